"""HLS through nginx as documented: many viewers cost the relay what one costs, and only those with a good link see it."""

import asyncio
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from urllib.parse import urljoin

from hls import Loader
from scene import Failure, eventually, percentile
from studio import MOVING, Studio, require

CONFIGURATION = pathlib.Path(__file__).resolve().parents[2] / "Deploy/nginx/hls.conf"
VIEWERS = 500
#: The most that all viewers may cost the relay, as a multiple of what one costs.
MOST_COST = 1.1
#: How long after its key is revoked a link may still be good, in s.
MOST_AFTERLIFE = 10.0
#: How long a measurement takes, in s, and how often one and all viewers alternate.
SECONDS, ROUNDS = 20.0, 5
#: How many viewers read parts, in threads.
LOADERS = 4


def prove_proxy(programs):
    with Studio(programs, size=(640, 360), has_keys=True) as studio, Nginx(studio.ports["http"]) as nginx:
        session = studio.record(MOVING, fps=30, bitrate=1_000_000)
        guest = studio.make_key("guest", "viewer")
        base = studio.answer("POST", f"/v1/sessions/{session}/links", {"ttl": 3600}, key=guest)["base"]
        playlist = f"{base}live.m3u8"
        check_strangers(nginx, studio, session, base)
        ratios = []
        for _ in range(ROUNDS):
            costs = {count: Crowd(nginx.port, playlist, count).cost(studio, SECONDS) for count in (1, VIEWERS)}
            ratios.append(costs[VIEWERS] / costs[1])
            print(
                f"proxy: relay {costs[1]:.1f} ms/s for one viewer, {costs[VIEWERS]:.1f} for {VIEWERS}: "
                f"{ratios[-1]:.3f}, goal {MOST_COST:g}",
                flush=True,
            )
        delays = load_parts(nginx.port, playlist)
        print(
            f"proxy: {len(delays)} parts of {LOADERS} viewers who read parts, from capture until they are loaded: p50 "
            f"{percentile(delays, 0.5):.3f} s, p99 {percentile(delays, 0.99):.3f}",
            flush=True,
        )
        afterlife = Crowd(nginx.port, playlist, 20).afterlife(lambda: studio.revoke_key("guest"))
        print(f"proxy: the last segment came {afterlife:.1f} s after the key was revoked, goal {MOST_AFTERLIFE:g}")
        require(afterlife <= MOST_AFTERLIFE, "a link outlives its key")
        median = sorted(ratios)[len(ratios) // 2]
        require(median <= MOST_COST, f"{VIEWERS} viewers cost the relay {median:.2f} times what one costs")


def load_parts(port, playlist):
    """Reads parts by several viewers at once. Returns how old they were in s."""
    delays = []
    loaders = [
        threading.Thread(target=lambda: delays.extend(Loader(port, playlist).run(SECONDS))) for _ in range(LOADERS)
    ]
    for loader in loaders:
        loader.start()
    for loader in loaders:
        loader.join()
    require(delays, "no viewer could read parts")
    return delays


def check_strangers(nginx, studio, session, base):
    """Checks that nobody gets a byte of a cached segment without a link for it."""
    link = base.split("/")[2]
    good = nginx.get(f"{base}live.m3u8")
    require(good.startswith(b"HTTP/1.1 200"), f"the playlist: {good[:200]}")
    part = re.search(rb'URI="(live/[^"]+)"', good)[1].decode()
    require(nginx.get(base + part).startswith(b"HTTP/1.1 200"), "a part is refused")
    other = studio.answer("POST", "/v1/sessions", {"device": MOVING})["id"]
    others = studio.answer("POST", f"/v1/sessions/{other}/links", {})["base"].split("/")[2]
    thing = f"v1/sessions/{session}"
    for path in (
        f"/signed/{others}/{thing}/{part}",
        f"/signed/{others}/v1/sessions/{other}/../{session}/{part}",
        f"/signed/{others}/v1/sessions/{other}/%2e%2e/{session}/{part}",
        f"/signed/{others}/v1/sessions/{other}/live/../../{session}/{part}",
        f"/signed/{link}x/{thing}/{part}",
        f"/signed/{link[:-1]}/{thing}/{part}",
        f"/signed/x/{thing}/{part}",
        f"/signed//{thing}/{part}",
        f"/signed/{thing}/{part}",
        f"/{thing}/{part}",
        f"/{thing}/live.m3u8",
        f"/signed/{link}%0d%0aX/{thing}/{part}",
        "/link",
        "/metrics",
        "/v1/sessions",
        # Not HLS: nginx would keep a stream for a viewer who has gone, and an old picture for all.
        f"/signed/{link}/{thing}/snapshot.png",
        f"/signed/{link}/{thing}/stream.ts",
    ):
        for method in ("GET", "HEAD", "POST"):
            status = nginx.get(path, method).split(b" ")[1]
            require(status[:1] == b"4", f"{method} {path} is answered with {status}")
    studio.answer("POST", f"/v1/sessions/{other}/stop")
    time.sleep(6.0)
    gone = nginx.get(f"/signed/{others}/v1/sessions/{other}/live.m3u8")
    require(gone.startswith(b"HTTP/1.1 403"), f"a session that is gone: {gone[:200]}")
    require(link not in nginx.log.read_text(), "a link is in nginx's log")


class Nginx:
    """nginx with the documented configuration, at a free port and in a folder of its own. Use it as a context."""

    def __init__(self, relay_port):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._relay_port = relay_port

    def __enter__(self):
        self._directory = pathlib.Path(tempfile.mkdtemp(prefix="heliograph-nginx-"))
        # nginx's workers run as another user.
        self._directory.chmod(0o755)
        text = CONFIGURATION.read_text()
        for usual, own in (
            ("listen 8080", f"listen 127.0.0.1:{self.port} backlog=4096"),
            ("127.0.0.1:8420", f"127.0.0.1:{self._relay_port}"),
            ("/var/cache/nginx/heliograph", str(self._directory / "cache")),
            ("/var/log/nginx/heliograph.log", str(self.log)),
        ):
            require(usual in text, f"{CONFIGURATION} has no {usual}")
            text = text.replace(usual, own)
        (self._directory / "hls.conf").write_text(text)
        self.log.touch()
        self.log.chmod(0o666)
        folders = "".join(
            f"{kind}_temp_path {self._directory}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        main = self._directory / "nginx.conf"
        main.write_text(
            f"daemon off; worker_processes 1; pid {self._directory}/pid; error_log {self._directory}/error.log;"
            f"events {{ worker_connections 4096; }} http {{ {folders} include {self._directory}/hls.conf; }}"
        )
        self._process = subprocess.Popen(["nginx", "-p", self._directory, "-c", main], stderr=subprocess.DEVNULL)
        eventually("nginx", self._answers)
        return self

    @property
    def log(self):
        return self._directory / "links.log"

    def _answers(self):
        if self._process.poll() is not None:
            raise Failure(f"nginx does not start: {(self._directory / 'error.log').read_text()}")
        try:
            return self.get("/")
        except OSError:
            return None

    def __exit__(self, *_):
        self._process.terminate()
        self._process.wait(20)
        shutil.rmtree(self._directory)

    def get(self, path, method="GET"):
        """Calls it without changing the path, as no client would. Returns the answer's bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
            connection.sendall(head.encode())
            return b"".join(iter(lambda: connection.recv(1 << 16), b""))


class Crowd:
    """Viewers, each with a connection of its own: they load each segment once, and wait for the next in the playlist."""

    def __init__(self, port, playlist, count):
        self._port, self._playlist, self._count = port, playlist, count
        self._segments = 0
        self._last = 0.0

    def cost(self, studio, seconds):
        """Lets them watch. Returns the relay's processor time in ms/s after the first seconds."""

        async def measure():
            await asyncio.sleep(5.0)
            segments, begin, used = self._segments, time.monotonic(), processor_time(studio.ports["pid"])
            await asyncio.sleep(seconds)
            least = self._count * seconds / 6
            require(self._segments - segments >= least, f"{self._segments - segments} segments, at least {least:g}")
            return (processor_time(studio.ports["pid"]) - used) * 1000 / (time.monotonic() - begin)

        return asyncio.run(self._run(measure))

    def afterlife(self, revoke):
        """Lets them watch, and revokes their key. Returns how many s later the last segment came."""

        async def measure():
            await asyncio.sleep(5.0)
            require(self._segments > 0, "no segments")
            revoke()
            begin = time.monotonic()
            await asyncio.sleep(2 * MOST_AFTERLIFE)
            # None came since if the last one is older.
            return max(0.0, self._last - begin)

        return asyncio.run(self._run(measure, is_refused=True))

    async def _run(self, measure, is_refused=False):
        viewers = [asyncio.create_task(self._watch()) for _ in range(self._count)]
        try:
            measured = await measure()
            failed = [viewer for viewer in viewers if viewer.done()]
            if failed and not is_refused:
                failed[0].result()
            return measured
        finally:
            for viewer in viewers:
                viewer.cancel()
            await asyncio.gather(*viewers, return_exceptions=True)

    async def _watch(self):
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port, limit=1 << 22)
        known, query = None, ""
        while True:
            text = (await self._get(reader, writer, self._playlist + query)).decode()
            first = int(re.search(r"#EXT-X-MEDIA-SEQUENCE:(\d+)", text)[1])
            addresses = re.findall(r"#EXTINF:.*\n(?:#.*\n)*([^#\n]+)", text)
            # They begin near the end, as players do.
            known = known or first + len(addresses) - 2
            for number, address in enumerate(addresses, first):
                if number > known:
                    known = number
                    await self._get(reader, writer, urljoin(self._playlist, address))
                    self._segments, self._last = self._segments + 1, time.monotonic()
            query = f"?_HLS_msn={known + 1}"

    @staticmethod
    async def _get(reader, writer, path):
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)content-length: (\d+)", head)
        body = await (reader.readexactly(int(length[1])) if length else chunked(reader))
        if not head.startswith(b"HTTP/1.1 200"):
            raise Failure(f"GET {path}: {head.splitlines()[0].decode()}")
        return body


async def chunked(reader):
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += await reader.readexactly(size)
        await reader.readexactly(2)
    await reader.readexactly(2)
    return body


def processor_time(pid):
    """The processor time that a process's threads have used, in s."""
    used = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        used += int((task / "schedstat").read_text().split()[0])
    return used / 1e9
