"""A headless desktop with sound, a relay that captures it, and what proofs of sound need of both."""

import base64
import os
import signal
import socket
import struct
import subprocess
import time
import urllib.parse

import av
import numpy

from scene import DESKTOP, DEVICE, SOURCES, Caller, Failure, Scene, eventually, start_desktop, tool

#: Samples per second.
RATE = 48_000
#: The sink that a stage makes; it outlives agents.
SINK = "stage"
#: Kinds of WebSocket frames (RFC 6455, 5.2).
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
#: The first byte of a message of sound, and the bytes before the packet: docs/reference/websocket.md.
SOUND, SOUND_HEAD = 3, 28


class Stage(Scene):
    """A desktop, or only PipeWire with the kind ``none``, whose sink is captured. Use it as a context."""

    def __init__(self, kind, programs, arguments=(), size=(640, 360), fallback="none", devices=(), has_keys=False):
        """
        :param devices: Devices of slow test patterns with virtual sinks, instead of the one device with the captured sink.
        :param has_keys: Whether the relay wants keys, so that root may act.
        """
        super().__init__(kind, programs, size)
        self._more, self._fallback, self._devices = list(arguments), fallback, list(devices)
        self._has_keys = has_keys
        self._players = []

    def _start(self):
        self._desktop = start_desktop(self.directory, self.kind, None if self.kind == "none" else self.size)
        tools = [tool(name) for name in ("beep", "counter-client")]
        self.desktop("stage", self._programs / "capture-agent", self._programs / "heliograph-relay", *tools)
        self.make_sink()
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

    def make_sink(self):
        form = f"{{ factory.name=support.null-audio-sink node.name={SINK} media.class=Audio/Sink object.linger=true }}"
        self.desktop("exec", "pw-cli", "create-node", "adapter", form)

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

    def record(self, path, seconds):
        """Starts to download a stream of the session ``sound``. Returns its process and its file."""
        file = self.directory / f"recorded-{time.monotonic_ns()}-{path.replace('.', '-')}"
        words = ["curl", "--silent", "--output", file, "--max-time", str(seconds), self.address(path)]
        return subprocess.Popen(words), file

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

    def times(self):
        """The times that ``beep`` has printed, in s."""
        return numpy.array([int(line) for line in self._log.read_text().split()]) / 1e9

    def end(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(10)


class Listener:
    """The packets of a session's sound, by its WebSocket."""

    def __init__(self, stage):
        address = urllib.parse.urlparse(stage.address("ws"))
        self._connection = socket.create_connection((address.hostname, address.port), timeout=10)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        key = base64.b64encode(os.urandom(16)).decode()
        access = f"Authorization: Bearer {stage.caller.key}\r\n" if stage.caller.key else ""
        self._connection.sendall(
            f"GET {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n{access}\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            head += self._read(1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise Failure(f"no WebSocket: {head[:200]}")
        self._send(TEXT, b'{"type":"audio","on":true}')

    def _read(self, count):
        data = b""
        while len(data) < count:
            part = self._connection.recv(count - len(data))
            if not part:
                raise Failure("the relay closed the WebSocket")
            data += part
        return data

    def _send(self, kind, data):
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
        length = struct.pack(">B", 0x80 | len(data)) if len(data) < 126 else struct.pack(">BH", 0x80 | 126, len(data))
        self._connection.sendall(bytes([0x80 | kind]) + length + mask + masked)

    def packets(self):
        """Yields each packet as it comes: its PTS in µs, its bytes, and when it came, in monotonic ns."""
        while True:
            kind, length = self._read(2)
            if length == 126:
                length = struct.unpack(">H", self._read(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self._read(8))[0]
            data = self._read(length)
            if kind & 15 == PING:
                self._send(PONG, data)
            if kind & 15 == CLOSE:
                raise Failure(f"the relay ended the WebSocket: {data[2:].decode(errors='replace')}")
            if kind & 15 == BINARY and data[0] == SOUND:
                yield struct.unpack(">q", data[4:12])[0], data[SOUND_HEAD:], time.monotonic_ns()

    def close(self):
        self._connection.close()


def decoded(path):
    """The sound of a file: its samples of one channel, and the time of the first one in s. Holes are zeros."""
    parts, start = [], None
    with av.open(str(path)) as file:
        for frame in file.decode(audio=0):
            if start is None:
                start = frame.time
            place = round((frame.time - start) * RATE)
            parts.append((place, frame.to_ndarray()[0]))
    if not parts:
        raise Failure("the stream has no sound")
    samples = numpy.zeros(max(place + len(part) for place, part in parts), dtype=numpy.float32)
    for place, part in parts:
        samples[place : place + len(part)] = part
    return samples, start


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
