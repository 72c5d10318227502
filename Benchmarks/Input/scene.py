"""A headless desktop with the client that logs its input, a relay that captures it, and what proofs need of both."""

import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import typing
import urllib.parse

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
DESKTOP = REPOSITORY / "Tests/Desktop/desktop"
#: How a desktop is captured, and the backend that its agent must choose.
SOURCES = {"sway": "screenshot", "mutter": "mutter", "xvfb": "screenshot"}
BACKENDS = {"sway": "wlroots", "mutter": "mutter", "xvfb": "x11"}
DEVICE = "/v1/devices/default"
#: The sink that a scene makes.
SINK = "stage"


class Failure(Exception):
    """A goal that is not met, or something that never came."""


def eventually(what, condition, limit=30.0, pause=0.005):
    """Returns the first value of ``condition`` that is not ``None`` or ``False``.

    :raises Failure: If there is none within ``limit`` seconds.
    """
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value is not None and value is not False:
            return value
        if time.monotonic() > deadline:
            raise Failure(f"{what}: not within {limit:g} s")
        time.sleep(pause)


def tool(name):
    """Returns the path of a tool of Tests/Desktop, which is compiled if it must be."""
    return subprocess.run([DESKTOP, "tool", name], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def start_desktop(directory, kind, size=None):
    """Starts an empty desktop. It ends when its standard input is closed.

    :raises Failure: If it does not come up.
    """
    words = [DESKTOP, "start", directory, "--compositor", kind, "--client", "none", "--until-stdin-closes"]
    words += ["--size", "{}x{}".format(*size)] if size else []
    desktop = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if desktop.stdout.readline() != b"ready\n":
        desktop.stdin.close()
        desktop.wait(30)
        raise Failure("the desktop did not come up; see its messages above")
    return desktop


class Answer(typing.NamedTuple):
    status: int
    body: dict

    @property
    def code(self):
        return self.body.get("code", "")


class Caller:
    """A connection to the relay that stays open."""

    def __init__(self, port, key=None):
        self.port, self.key = port, key
        self._connection = None

    def call(self, method, path, body=None, headers=None) -> Answer:
        """Makes a call, with ``body`` as JSON, or as it is if it is bytes."""
        status, data = self.exchange(method, path, body, headers)
        try:
            answer = json.loads(data) if data else {}
        except ValueError:
            answer = {"text": data[:200].decode(errors="replace")}
        return Answer(status, answer if isinstance(answer, dict) else {"list": answer})

    def exchange(self, method, path, body=None, headers=None):
        """Makes a call and returns its status and bytes. Connects again if the relay has closed the connection."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        fields = dict(headers or {})
        if self.key:
            fields["Authorization"] = f"Bearer {self.key}"
        for attempt in (1, 2):
            connection = self._connect()
            try:
                connection.request(method, path, data, fields)
                response = connection.getresponse()
                return response.status, response.read()
            except (http.client.HTTPException, OSError):
                self.close()
                if attempt == 2:
                    raise

    def act(self, body):
        """Acts, and returns the answer's body.

        :raises Failure: If it is refused.
        """
        answer = self.call("POST", f"{DEVICE}/actions", body)
        if answer.status != 200:
            raise Failure(f"{str(body)[:200]}: {answer}")
        return answer.body

    def close(self):
        if self._connection:
            self._connection.close()
        self._connection = None

    def _connect(self):
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        return self._connection


class Event(typing.NamedTuple):
    """A line of Tests/Desktop/input_log.h. The time is in monotonic ns."""

    time: int
    name: str
    fields: tuple

    @property
    def place(self):
        return float(self.fields[-2]), float(self.fields[-1])

    @property
    def text(self):
        """What a key types; empty for other events."""
        if self.name != "key" or len(self.fields) != 4 or self.fields[1] == "up" or self.fields[3] == "-":
            return ""
        return urllib.parse.unquote(self.fields[3])

    def __str__(self):
        return " ".join((self.name,) + self.fields)


class Log:
    """What the logging client got."""

    def __init__(self, path):
        self._path, self._offset, self._rest = path, 0, b""
        self.events: list[Event] = []
        self.held: dict[str, int] = {}
        #: When something was released last, in monotonic ns.
        self.released = 0

    def read(self):
        """Adds what is new, and returns all events."""
        with open(self._path, "rb") as file:
            file.seek(self._offset)
            data = file.read()
        self._offset += len(data)
        # The last line may be half written.
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            time_, name, *fields = line.decode().split(" ")
            event = Event(int(time_), name, tuple(fields))
            self.events.append(event)
            self._follow(event)
        return self.events

    def _follow(self, event):
        if event.name == "focus" and event.fields == ("out",):
            # A window without the keyboard has no keys.
            self.held = {thing: since for thing, since in self.held.items() if not thing.startswith("key")}
        if event.name == "leave":
            # A window that the pointer has left, because a finger touches it, gets no releases of buttons.
            self.held = {thing: since for thing, since in self.held.items() if not thing.startswith("button")}
        if event.name not in ("key", "button", "touch"):
            return
        thing = f"{event.name} {event.fields[0].lower()}"
        if event.fields[1] == "down":
            self.held[thing] = event.time
        elif event.fields[1] in ("up", "cancel") and self.held.pop(thing, None) is not None:
            self.released = event.time


class Scene:
    """A desktop and its relay. Use it as a context."""

    ROLES = ("viewer", "controller", "operator")

    def __init__(self, kind, programs, size=(1280, 720), arguments=()):
        self.kind, self.size = kind, size
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heliograph-", dir="/tmp"))
        self.directory.chmod(0o755)
        self._programs, self._arguments = pathlib.Path(programs), list(arguments)
        #: A key of each role. A relay without keys lets only its own user act, which root is not.
        self.keys: dict = {}
        self._desktop = self.relay = self.caller = None
        self.ports: dict = {}

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, kind=None, *_):
        if kind:
            for name in (self.kind, "input"):
                self._show_log(name)
        if self.caller:
            self.caller.close()
        self.end_relay()
        if self._desktop:
            self._desktop.stdin.close()
            self._desktop.wait(30)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _show_log(self, name, count=8):
        file = self.directory / f"logs/{name}.log"
        if file.exists():
            for line in file.read_text(errors="replace").splitlines()[-count:]:
                print(f"  {name}: {line}")

    def _start(self):
        self._desktop = start_desktop(self.directory, self.kind, self.size)
        self.desktop("stage", self._programs / "capture-agent", self._programs / "heliograph-relay")
        self.start_client()
        self._make_keys()
        self.start_relay()

    def start_client(self):
        self.desktop("input", "start")
        self.log = Log(self.directory / "run/input.log")

    def restart_client(self):
        """Begins with a client for which nothing is held."""
        self.desktop("input", "stop")
        self.start_client()

    def desktop(self, command, *arguments, **options):
        """Runs a command of Tests/Desktop/desktop."""
        words = [DESKTOP, command, self.directory, *map(str, arguments)]
        return subprocess.run(words, check=True, stdin=subprocess.DEVNULL, capture_output=True, **options).stdout

    def make_sink(self, group=None):
        """Makes a sink without hardware, which outlives agents.

        :param group: The group of nodes that it belongs to, whose driver says how fast its samples are.
        """
        form = f"factory.name=support.null-audio-sink node.name={SINK} media.class=Audio/Sink object.linger=true"
        form = f"{{ {form} {'node.group=' + group if group else ''} }}"
        self.desktop("exec", "pw-cli", "create-node", "adapter", form)

    # Relay

    def _make_keys(self):
        for role in self.ROLES:
            self.keys[role] = self.make_key(f"the-{role}", role)

    @property
    def _keys_file(self):
        return self.directory / "keys.json"

    def make_key(self, name, role):
        """Makes a key and returns it."""
        return self._change_keys("make", name, "--role", role).split()[-1]

    def revoke_key(self, name):
        self._change_keys("revoke", name)

    def _change_keys(self, command, *words):
        words = [self._programs / "heliograph", "keys", command, "--keys-file", self._keys_file, *words]
        text = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        if os.geteuid() == 0:
            shutil.chown(self._keys_file, "nobody")
        return text

    def start_relay(self, ports=None):
        """Starts a relay and its broadcast.

        :param ports: The ports of a former one, whose state and agents it takes up.
        """
        file = self.directory / f"run/ports-{time.monotonic_ns()}.json"
        http_port, link = (ports or {}).get("http", 0), (ports or {}).get("agentLink", 0)
        words = [DESKTOP, "exec", self.directory, "heliograph-relay", "--http", f"127.0.0.1:{http_port}"]
        words += ["--agent-link", f"127.0.0.1:{link}", "--ports-file", file, "--session-port-base", "0"]
        words += ["--keys-file", self._keys_file, "--fallback", "none", "--source", SOURCES[self.kind]]
        with open(self.directory / "relay.log", "ab") as log:
            self.relay = subprocess.Popen(
                [str(word) for word in words + self._arguments], stdin=subprocess.DEVNULL, stderr=log
            )
        self.ports = eventually("the relay's ports", lambda: self._read_ports(file))
        self.caller = Caller(self.ports["http"], self.keys["operator"])

    def _read_ports(self, file):
        if self.relay.poll() is not None:
            raise Failure(f"the relay ended with status {self.relay.returncode}: {self.last_words()}")
        try:
            return json.loads(file.read_text())
        except (OSError, ValueError):
            return None

    def end_relay(self):
        """Asks the relay to end, as a service manager does. Returns its status; ``None`` if there is none."""
        if not self.relay or self.relay.poll() is not None:
            return None
        os.kill(self.ports.get("pid", self.relay.pid), signal.SIGTERM)
        try:
            return self.relay.wait(20)
        except subprocess.TimeoutExpired:
            self.relay.kill()
            return self.relay.wait()

    def last_words(self, count=5):
        return "\n".join((self.directory / "relay.log").read_text(errors="replace").splitlines()[-count:])

    def start_broadcast(self):
        answer = self.caller.call("POST", f"{DEVICE}/broadcast/start", {"timeout": 60})
        if answer.status != 200 and answer.code != "broadcast_running":
            raise Failure(f"the broadcast does not start: {answer}")
        self.wait_for_agent()

    def wait_for_agent(self, other_than=0):
        """Waits for an agent that streams and can act, and returns its process id."""

        def agent():
            try:
                broadcast = self.caller.call("GET", f"{DEVICE}/broadcast").body
            except (OSError, http.client.HTTPException):
                return None
            pid = (broadcast.get("agent") or {}).get("pid", 0)
            is_able = (broadcast.get("input") or {}).get("backend") == BACKENDS[self.kind]
            is_live = (broadcast.get("source") or {}).get("state") == "streaming"
            return pid if pid and pid != other_than and is_able and is_live else None

        return eventually("an agent that can act", agent)

    def session(self, name, **fields):
        """Makes the device's session of that name so, and returns it."""
        answer = self.caller.call("PUT", f"{DEVICE}/sessions/{name}", fields)
        if answer.status not in (200, 201):
            raise Failure(f"session {name}: {answer}")
        return answer.body


def percentile(values, share):
    """The value that ``share`` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
