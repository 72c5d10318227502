"""A headless desktop, a relay that records it, and what proofs of recordings need of both."""

import json
import signal
import sqlite3
import subprocess
import time

from scene import DESKTOP, Caller, Failure, Scene, eventually

#: The device of a static screen, and the one whose picture always moves.
STATIC, MOVING = "static", "moving"


class Studio(Scene):
    """A desktop of sway whose screen is static, beside a test pattern that moves. Use it as a context."""

    def __init__(self, programs, size=(1280, 720), rate=30, sound=False, library=None, arguments=(), has_keys=False):
        """
        :param library: The folder of recordings; by default one of the desktop's user.
        :param arguments: More flags of the relay.
        :param has_keys: Whether calls need keys. The studio then calls as an operator.
        """
        super().__init__("sway", programs, size, arguments)
        self._rate, self._sound, self._library, self._has_keys = rate, sound, library, has_keys

    @property
    def library(self):
        return self._library or self.directory / "home/library"

    def _start(self):
        width, height = self.size
        words = [DESKTOP, "start", self.directory, "--compositor", "sway", "--client", "none", "--until-stdin-closes"]
        self._desktop = subprocess.Popen(
            words + ["--size", f"{width}x{height}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        if self._desktop.stdout.readline() != b"ready\n":
            raise Failure("the desktop did not come up; see its messages above")
        self.desktop("stage", self._programs / "capture-agent", self._programs / "heliograph-relay")
        (self.directory / "relay.yaml").write_text(f"maxSessions: 32\ndevices:\n{self._devices()}")
        if self._has_keys:
            self._make_keys()
        self.start_relay()

    def _devices(self):
        """The devices in the relay's configuration."""
        audio = ", audio: virtual, recordAudio: both" if self._sound else ""
        return f"  {STATIC}: {{source: {{kind: screenshot}}{audio}}}\n  {MOVING}: {{source: {self._pattern()}}}\n"

    def _pattern(self):
        width, height = self.size
        return f"{{kind: test-pattern, width: {width}, height: {height}, fps: {self._rate}}}"

    def start_relay(self, http=0, link=0):
        file = self.directory / "run/ports.json"
        file.unlink(missing_ok=True)
        words = [DESKTOP, "exec", self.directory, "heliograph-relay", "--config", self.directory / "relay.yaml"]
        words += ["--http", f"127.0.0.1:{http}", "--agent-link", f"127.0.0.1:{link}", "--ports-file", file]
        words += ["--session-port-base", "0", "--fallback", "none", "--library", self.library]
        words += ["--state-file", self.directory / "home/state.json", *self._arguments]
        words += ["--keys-file", self._keys_file] if self._has_keys else []
        with open(self.directory / "relay.log", "ab") as log:
            self.relay = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stderr=log)
        self.ports = eventually("the relay's ports", lambda: self._read_ports(file))
        self.caller = Caller(self.ports["http"], self.keys.get("operator"))

    def kill_relay(self):
        """Ends the relay by SIGKILL. Returns when, in s since 1970."""
        pid = self.ports["pid"]
        subprocess.run(["kill", "-KILL", str(pid)], check=True)
        moment = time.time()
        self.relay.wait(30)
        self.caller.close()
        return moment

    def restart_relay(self):
        """Starts the relay again on the same ports, so that its agents find it."""
        self.start_relay(self.ports["http"], self.ports["agentLink"])

    def record(self, device, **settings):
        """Starts a broadcast and a recorded session. Returns the session's id."""
        self.answer("POST", f"/v1/devices/{device}/broadcast/start", {"timeout": 30})
        return self.answer("POST", "/v1/sessions", {"device": device, "record": True, **settings})["id"]

    def answer(self, method, path, body=None, key=None):
        """:param key: The caller's key, if it is not the usual one."""
        caller = Caller(self.ports["http"], key) if key else self.caller
        answer = caller.call(method, path, body)
        if answer.status >= 400:
            raise Failure(f"{method} {path}: {answer}")
        return answer.body

    def recording(self, session):
        return self.answer("GET", f"/v1/sessions/{session}")["recording"]

    def wait_until_written(self, session):
        def is_written():
            recording = self.recording(session)
            return recording and recording["state"] == "recording" and recording["bytes"] > 0

        eventually(f"pictures of session {session} on the disk", is_written, pause=0.05)

    def items(self):
        """All items, the oldest first."""
        items, cursor = [], ""
        while True:
            page = self.answer("GET", f"/v1/library?order=oldest&limit=1000{cursor}")
            items += page["items"]
            if page["next"] is None:
                return items
            cursor = f"&cursor={page['next']}"

    def paths(self):
        """The files by the ids of their items, as the catalogue has them."""
        database = sqlite3.connect(f"file:{self.library}/catalogue.sqlite?mode=ro", uri=True)
        try:
            return {id_: self.library / path for id_, path in database.execute("SELECT id, path FROM item")}
        finally:
            database.close()

    def files(self):
        return set(self.library.glob("recordings/**/*.mp4"))


def require(condition, message):
    if not condition:
        raise Failure(message)


def parsed(text):
    """A time of the API, in s since 1970."""
    whole, _, rest = text.rstrip("Z").partition(".")
    return time.mktime(time.strptime(whole, "%Y-%m-%dT%H:%M:%S")) - time.timezone + float(f"0.{rest or 0}")


def messages(program, *words):
    """What a program prints to standard error."""
    run = subprocess.run([program, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return run.stderr.strip()


def probe(path):
    """The duration of a movie in s, and the times of its pictures in s."""
    words = ["ffprobe", "-v", "error", "-of", "json", "-show_entries", "format=duration:packet=pts_time"]
    run = subprocess.run(
        words + ["-select_streams", "v", str(path)], check=True, stdout=subprocess.PIPE, text=True
    )
    found = json.loads(run.stdout)
    times = [float(packet["pts_time"]) for packet in found.get("packets", [])]
    return float(found["format"]["duration"]), times


def decodes(path):
    """What ffmpeg says while it decodes a movie; empty if all is well."""
    # The times stay as they are: at a switch of agents, two pictures may be closer than the frame rate says.
    words = ["-v", "warning", "-nostdin", "-i", path, "-enc_time_base", "-1", "-f", "null", "-"]
    return messages("ffmpeg", *words)


def check_file(path, item):
    """Checks that a file plays and is what its item says."""
    said = decodes(path)
    require(not said, f"{path}: {said}")
    require(path.stat().st_size == item["bytes"], f"{path} has {path.stat().st_size} bytes, its item {item['bytes']}")
    duration, _ = probe(path)
    require(abs(duration - item["seconds"]) < 0.001, f"{path} lasts {duration} s, its item {item['seconds']}")
