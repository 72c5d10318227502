"""A headless desktop with sound, a relay that captures it, and what proofs of sound need of both."""

import signal
import subprocess

import numpy

from scene import DESKTOP, DEVICE, SINK, SOURCES, Caller, Failure, Scene, eventually, start_desktop, tool

#: Samples per second.
RATE = 48_000


class Stage(Scene):
    """A desktop, or only PipeWire with the kind ``none``, whose sink is captured. Use it as a context."""

    def __init__(self, kind, programs, arguments=(), size=(640, 360), fallback="none", devices=(), has_keys=False, group=None):
        """
        :param devices: Devices of slow test patterns with virtual sinks, instead of the one device with the captured sink.
        :param has_keys: Whether the relay wants keys, so that root may act.
        :param group: The group of the captured sink, whose driver says how fast its samples are.
        """
        super().__init__(kind, programs, size)
        self._more, self._fallback, self._devices = list(arguments), fallback, list(devices)
        self._has_keys, self._group = has_keys, group
        self._players = []

    def _start(self):
        self._desktop = start_desktop(self.directory, self.kind, None if self.kind == "none" else self.size)
        tools = [tool(name) for name in ("beep", "counter-client", "drift-driver")]
        self.desktop("stage", self._programs / "capture-agent", self._programs / "heliograph-relay", *tools)
        self.make_sink(self._group)
        if self._has_keys:
            self._make_keys()
        self.start_relay()
        if not self._devices:
            self.caller.call("POST", f"{DEVICE}/broadcast/start", {"timeout": 30})

    def __exit__(self, kind=None, *rest):
        for player in self._players:
            player.end()
        super().__exit__(kind, *rest)

    def start_relay(self, ports=None):
        file = self.directory / "run/ports.json"
        source = SOURCES.get(self.kind, "test-pattern")
        words = [DESKTOP, "exec", self.directory, "heliograph-relay", "--http", "127.0.0.1:0", "--ports-file", file]
        words += ["--agent-link", "127.0.0.1:0", "--session-port-base", "0", "--fallback", self._fallback]
        if self._has_keys:
            words += ["--keys-file", self.directory / "keys.json"]
        if self._devices:
            source = "{kind: test-pattern, width: 64, height: 64, fps: 1}"
            lines = [f"  {name}: {{audio: virtual, source: {source}}}\n" for name in self._devices]
            configuration = self.directory / "relay.yaml"
            configuration.write_text("devices:\n" + "".join(lines))
            words += ["--config", configuration]
        else:
            words += ["--source", source, "--audio", f"sink:{SINK}", *self._more]
        with open(self.directory / "relay.log", "ab") as log:
            self.relay = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stderr=log)
        self.ports = eventually("the relay's ports", lambda: self._read_ports(file))
        self.caller = Caller(self.ports["http"], self.keys.get("operator"))

    def play(self, *words, logs="player"):
        """Starts a program in the desktop. It ends with the stage."""
        player = Player(self.directory, words, self.directory / f"{logs}-{len(self._players)}.log")
        self._players.append(player)
        return player

    def beep(self, *options):
        return self.play("beep", "--target", SINK, *map(str, options), logs="beeps")

    def sound(self):
        """What the relay says of the sound."""
        return self.caller.call("GET", f"{DEVICE}/broadcast").body["audio"]

    def wait_for_sound(self):
        """Waits until an agent captures, because something wants it."""
        return eventually("the capture", lambda: (self.sound() or {}).get("capturing") or None)

    def address(self, path):
        return f"http://127.0.0.1:{self.ports['http']}{DEVICE}/sessions/sound/{path}"

    def agent_pids(self):
        """The process ids of the agents: the one that feeds, then the standby."""
        broadcast = self.caller.call("GET", f"{DEVICE}/broadcast").body
        agents = [broadcast.get("agent"), (broadcast.get("standby") or {}).get("agent")]
        return [agent["pid"] if agent and agent.get("pid") else None for agent in agents]


class Player:
    """A program of the desktop, and what it prints."""

    def __init__(self, directory, words, log):
        self._log = log
        with open(log, "wb") as output:
            self._process = subprocess.Popen(
                [str(word) for word in (DESKTOP, "exec", directory, *words)], stdin=subprocess.DEVNULL, stdout=output
            )

    def text(self):
        """What it has printed."""
        return self._log.read_text()

    def times(self):
        """The times that ``beep`` has printed, in s."""
        return numpy.array([int(line) for line in self.text().split()]) / 1e9

    def end(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(10)


def beginnings(samples, start, threshold=0.12, pause=0.2):
    """The times at which sound begins after a pause, in s."""
    loud = numpy.flatnonzero(numpy.abs(samples) > threshold)
    if len(loud) == 0:
        return numpy.array([])
    first = numpy.concatenate(([True], numpy.diff(loud) > pause * RATE))
    return start + loud[first] / RATE


def require(condition, message):
    if not condition:
        raise Failure(message)
