"""All that a client on another machine does, from the pairing to the last picture, over a network of a known rate."""

import base64
import concurrent.futures
import ctypes
import http.client
import json
import multiprocessing
import os
import pathlib
import socket
import statistics
import subprocess
import time

import av
import numpy

from scene import DESKTOP, DEVICE, SINK, SOURCES, Caller, Failure, Scene, eventually, percentile, tool
from speed import RELAY, Network, plain, watch, within
from websocket import PICTURE, TEXT, WebSocket, any_certificate

#: The network, in Mbit/s, and how far the speed test may be from what a plain connection carries.
RATE, NEAR = 50, 0.03
#: Where the relay listens.
PORT = 8420
#: How often the size is changed, and the goals from the call to the first picture, in ms: the median, and the 95th
#: percentile where pictures are scaled and where the monitor takes the size.
CHANGES, MEDIAN, MOST, MONITOR_MOST = 40, 50, 120, 150
#: The sizes that are set in turn.
SIZES = (640, 360), (1280, 720)
#: How long streams are compared, in s.
LENGTH = 5
#: Where the desktop is clicked.
PLACE = (200, 150)


def prove_loop(programs, count):
    with Network() as network:
        network.limit(RATE)
        # A process of its own, because a namespace holds for all that it starts.
        host = multiprocessing.get_context("fork").Process(target=inside, args=(network, pathlib.Path(programs), count))
        host.start()
        host.join()
    if host.exitcode:
        raise Failure("see above")


def inside(network, programs, count):
    """Runs in the relay's namespace."""
    with open(f"/var/run/netns/{network.relay}") as namespace:
        if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0x40000000) != 0:
            raise OSError(ctypes.get_errno(), "setns")
    with House(programs) as house:
        house.start_broadcast()
        guest = Guest(network, programs, house.directory)
        pair(house, guest)
        house.session("loop", fps=30)
        compare_streams(house, guest)
        listen(guest)
        look_at_statistics(guest)
        measure_speed(network, guest, count)
        resize(house)
        house.start_log()
        act(house, guest)


def said(text):
    print(f"loop: {text}", flush=True)


class House(Scene):
    """A desktop and a relay that another machine reaches, by TLS."""

    def __init__(self, programs):
        super().__init__("sway", programs, (1280, 720))
        self.url = f"https://{RELAY}:{PORT}"

    def start_client(self):
        """Starts a program that draws, and one that beeps."""
        self.make_sink()
        self.desktop("stage", tool("counter-client"), tool("beep"))
        self._drawing, _ = (
            subprocess.Popen([DESKTOP, "exec", self.directory, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            for words in (["counter-client", "--fps", "30"], ["beep", "--target", SINK])
        )

    def start_log(self):
        """Starts the program that logs its input, instead."""
        self._drawing.terminate()
        self._drawing.wait()
        super().start_client()

    @property
    def _keys_file(self):
        # The relay adds who pairs.
        return self.directory / "home/keys.json"

    def start_relay(self, ports=None):
        file = self.directory / "run/ports.json"
        words = [DESKTOP, "exec", self.directory, "heliograph-relay", "--http", f"{RELAY}:{PORT}", "--tls", "self-signed"]
        words += ["--agent-link", "127.0.0.1:0", "--ports-file", file, "--session-port-base", "0", "--hide"]
        words += ["--audio", f"sink:{SINK}", "--source", SOURCES[self.kind], "--fallback", "none"]
        words += ["--keys-file", self._keys_file, "--library", "none"]
        with open(self.directory / "relay.log", "ab") as log:
            self.relay = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stderr=log)
        self.ports = eventually("the relay's ports", lambda: self._read_ports(file))
        self.caller = SecureCaller(PORT, self.keys["operator"])

    def arm(self):
        """Arms a PIN. Returns the process, which waits for a client, and the PIN."""
        home = self.directory / "operator"
        environment = os.environ | {"XDG_STATE_HOME": str(home), "HELIOGRAPH_RELAY": self.url}
        environment["HELIOGRAPH_KEY"] = self.keys["operator"]
        if not home.exists():
            words = [self._programs / "heliograph", "trust", "add", self.url, "--first"]
            subprocess.run(words, env=environment, check=True, capture_output=True)
        words = [self._programs / "heliograph", "pair", "--arm", "--role", "operator"]
        armed = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        return armed, armed.stdout.readline().strip()


class SecureCaller(Caller):
    def _connect(self):
        if self._connection is None:
            context = any_certificate()
            self._connection = http.client.HTTPSConnection(RELAY, self.port, timeout=60, context=context)
        return self._connection


class Guest:
    """A user on another machine, who has nothing but the command."""

    def __init__(self, network, programs, folder):
        self._network, self._programs = network, programs
        self.folder = folder / "guest"
        self.folder.mkdir()
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "XDG_STATE_HOME": str(self.folder / "state"),
            "HELIOGRAPH_RELAY": f"https://{RELAY}:{PORT}",
        }

    def start(self, *words, **options):
        words = within(self._network.client, self._programs / "heliograph", *words)
        return subprocess.Popen(words, env=self._environment, text=True, **options)

    def watch(self, address, key, seconds):
        return watch(self._network.client, address, key, self.folder / "watched", seconds)

    def run(self, *words, text=""):
        """Returns the status and all that was said."""
        pipe = subprocess.PIPE
        process = self.start(*words, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT)
        return process.communicate(text)[0], process.returncode

    def must(self, *words, **options):
        output, status = self.run(*words, **options)
        if status:
            raise Failure(f"heliograph {' '.join(map(str, words))}: {output.strip()}")
        return output

    def must_not(self, *words, **options):
        output, status = self.run(*words, **options)
        if not status:
            raise Failure(f"heliograph {' '.join(map(str, words))} should fail: {output.strip()}")
        return output.strip().splitlines()[-1]


def pair(house, guest):
    armed, pin = house.arm()
    wrong = str((int(pin) + 1) % 10 ** len(pin)).zfill(len(pin))
    said(f"a wrong PIN: {guest.must_not('pair', text=wrong + chr(10))}")
    said(f"the right PIN after it: {guest.must_not('pair', text=pin + chr(10))}")
    armed.terminate()
    armed.wait()
    armed, pin = house.arm()
    guest.must("pair", text=f"{pin}\n")
    if armed.wait(20) != 0:
        raise Failure("the operator does not hear of the pairing")
    guest.must("status")
    said("paired with a new PIN, and admitted without a key")
    said(f"a wrong fingerprint: {guest.must_not('status', '--fingerprint', '00' * 32)}")


def compare_streams(house, guest):
    """What a viewer on the other machine gets over WebSocket, beside the session's own port on the relay's machine."""
    port = house.caller.call("GET", f"{DEVICE}/sessions/loop").body["port"]
    lines = guest.watch(f"{house.url}{DEVICE}/sessions/loop/ws", house.keys["viewer"], LENGTH)
    with any_certificate().wrap_socket(socket.create_connection((RELAY, port), timeout=10)) as connection:
        connection.sendall(house.keys["viewer"].encode() + b"\n")
        encoded, end = b"", time.monotonic() + LENGTH + 2
        while time.monotonic() < end:
            encoded += connection.recv(1 << 20)
    received = b"".join(base64.b64decode(line["data"]) for line in lines() if "data" in line)
    # One of the two began at an earlier keyframe.
    ways = [(encoded, received), (received, encoded)]
    places = [(whole.find(part[: 1 << 16]), whole, part) for whole, part in ways]
    place, whole, part = max(places, key=lambda found: found[0])
    same = len(os.path.commonprefix([whole[place:], part])) if place >= 0 else 0
    said(f"{same} bytes of {len(received)} here and {len(encoded)} from the encoder are the same, one after the other")
    if same < 0.8 * min(len(received), len(encoded)):
        raise Failure("the streams differ")


def act(house, guest):
    before = len(house.log.read())
    guest.must("click", f"{PLACE[0]},{PLACE[1]}", "--session", "loop")

    def clicked():
        events = [event for event in house.log.read()[before:] if event.name == "button"]
        return events or None

    events = eventually("the click on the desktop", clicked, limit=5)
    said(f"a click at {PLACE} came as {events[0]}")


def listen(guest):
    """Two beeps a second should be heard."""
    file = guest.folder / "beeps.ogg"
    guest.must("watch", "loop", "--audio-only", "--output", file, "--duration", LENGTH)
    with av.open(str(file)) as container:
        parts = [numpy.abs(frame.to_ndarray()[0]) for frame in container.decode(audio=0)]
    loud = numpy.concatenate(parts).reshape(-1) > 0.12
    places = numpy.flatnonzero(loud)
    beeps = 1 + int((numpy.diff(places) > 9600).sum()) if len(places) else 0
    said(f"{beeps} beeps are heard in {LENGTH} s")
    if not 2 * LENGTH - 3 <= beeps <= 2 * LENGTH + 1:
        raise Failure("the sound is not that of the desktop")


def look_at_statistics(guest):
    lines = guest.must("stats", "loop", "--json", "--for", "4").splitlines()
    figures = json.loads(lines[-1])
    said(f"statistics: {lines[-1]}")
    if not 20 <= figures["fps"] <= 40:
        raise Failure(f"{figures['fps']} pictures a second")


def measure_speed(network, guest, count):
    pairs = [(plain(network), json.loads(guest.must("speedtest", "--for", "2", "--json"))["bitrate"]) for _ in range(count)]
    ratio = statistics.median(tested / plainly for plainly, tested in pairs)
    said(f"speed test: {ratio:.3f} of what a plain connection carries at {RATE} Mbit/s; goal: {1 - NEAR} to {1 + NEAR}")
    if abs(ratio - 1) > NEAR:
        raise Failure("the speed test is off")


def resize(house):
    """Changes the session's size, which scales its pictures, and then the monitor's."""

    def scale(width, height):
        house.caller.call("PATCH", f"{DEVICE}/sessions/loop", {"width": width, "height": height})

    def resize_monitor(width, height):
        house.caller.call("POST", f"{DEVICE}/actions", {"resize": {"width": width, "height": height}})

    for what, change, most in (("session", scale, MOST), ("monitor", resize_monitor, MONITOR_MOST)):
        times = [1000 * seconds for seconds in measure_changes(house, change)]
        half, nearly_all = percentile(times, 0.5), percentile(times, 0.95)
        said(
            f"{CHANGES} changes of the {what}'s size: p50 {half:.0f} ms, p95 {nearly_all:.0f} ms; "
            f"goals: {MEDIAN} and {most}"
        )
        if half > MEDIAN or nearly_all > most:
            raise Failure(f"a change of the {what}'s size takes too long")
        scale(None, None)
    # Ends control, which changes of the monitor took.
    house.caller.call("DELETE", f"{DEVICE}/actions")


def measure_changes(house, change):
    """From each call to the first picture of the new size, at a viewer on the relay's machine, in s."""
    viewer = WebSocket(f"{house.url}{DEVICE}/sessions/loop/ws", house.keys["viewer"])
    frames, times = viewer.frames(), []
    with concurrent.futures.ThreadPoolExecutor(1) as caller:
        for number in range(CHANGES):
            size = SIZES[number % len(SIZES)]
            begin = time.monotonic()
            # Beside the viewer, which may have its picture before the call is answered.
            call = caller.submit(change, *size)
            times.append(first_picture(frames, size) - begin)
            call.result()
            time.sleep(0.13)
    viewer.close()
    return times


def first_picture(frames, size):
    """When the first picture of this size has come, in s."""
    current = None
    for kind, data in frames:
        if kind == TEXT:
            event = json.loads(data)
            if event["type"] == "size":
                current = event["width"], event["height"]
        elif data[0] == PICTURE and current == size:
            return time.monotonic()
    raise Failure("the viewer was closed")
