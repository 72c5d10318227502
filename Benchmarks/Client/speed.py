"""The speed test of `heliograph` over a network of a known rate, beside a plain TCP connection."""

import json
import os
import pathlib
import statistics
import subprocess
import tempfile

from scene import Failure, eventually, tool

#: The rates of the network, in Mbit/s.
RATES = [5, 20, 100]
#: How far the speed test may be from the plain connection, as a part of it.
GOAL = 0.03
#: How long each measurement is, in s.
LENGTH = 2.0
#: What tbf lets pass at once, in bytes, and how long its queue is, in ms.
BURST, QUEUE = 32 << 10, 50
RELAY, CLIENT = "10.99.7.1", "10.99.7.2"

#: Sends to its first client for a time.
SENDER = """
import socket, sys, time
server = socket.create_server((sys.argv[1], 0))
print(server.getsockname()[1], flush=True)
connection, end = server.accept()[0], time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    connection.sendall(bytes(65536))
"""
#: Prints the bit/s from the first arrival to the last one.
RECEIVER = """
import socket, sys, time
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.recv(1 << 20)
count, first = 0, time.monotonic()
while part := connection.recv(1 << 20):
    count, last = count + len(part), time.monotonic()
print(count * 8 / (last - first))
"""


class Network:
    """Two network namespaces, with a way between them whose rate one of them limits. Use it as a context."""

    def __init__(self, delay=0, loss=0):
        """
        :param delay: How long a packet takes each way, in ms.
        :param loss: How many of a thousand packets to the client are lost.
        """
        self._delay, self._loss, self._way = delay, loss, None
        self.relay, self.client = (f"heliograph-{side}-{os.getpid()}" for side in ("relay", "client"))

    def __enter__(self):
        try:
            for name in (self.relay, self.client):
                run("ip", "netns", "add", name)
            self._make_way()
            for name, address in ((self.relay, RELAY), (self.client, CLIENT)):
                run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "way")
                run("ip", "-n", name, "link", "set", "way", "up")
                run("ip", "-n", name, "link", "set", "lo", "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make_way(self):
        if not self._delay and not self._loss:
            return run("ip", "-n", self.relay, "link", "add", "way", "type", "veth", "peer", "way", "netns", self.client)
        words = [tool("far-way"), self.relay, self.client, "way", self._delay, self._loss]
        self._way = subprocess.Popen(map(str, words), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if self._way.stdout.readline() != b"ready\n":
            raise Failure("the way has no devices")

    def __exit__(self, *_):
        if self._way:
            self._way.stdin.close()
            self._way.wait()
        for name in (self.relay, self.client):
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL)

    def control(self, congestion):
        """Has the relay's connections use one of Linux's congestion controls."""
        words = [f"{RELAY.rsplit('.', 1)[0]}.0/24", "dev", "way", "src", RELAY, "congctl", congestion]
        run("ip", "-n", self.relay, "route", "replace", *words)

    def limit(self, rate):
        """Lets ``rate`` Mbit/s pass from the relay to the client."""
        words = ["root", "tbf", "rate", f"{rate}mbit", "burst", str(BURST), "latency", f"{QUEUE}ms"]
        run("tc", "-n", self.relay, "qdisc", "replace", "dev", "way", *words)


def run(*words, **options):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, **options)
    if done.returncode:
        raise Failure(f"{' '.join(words)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def within(name, *words):
    return ["ip", "netns", "exec", name, *map(str, words)]


def watch(namespace, address, key, file, seconds):
    """Watches by ``watcher.py``. Returns what gives its lines when it has ended."""
    watcher = pathlib.Path(__file__).with_name("watcher.py")
    words = within(namespace, "/usr/bin/python3", watcher, address, file, seconds)
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, env=os.environ | {"HELIOGRAPH_KEY": key})

    def lines():
        if process.wait(60) != 0:
            raise Failure(f"the viewer of {address} failed")
        return [json.loads(line) for line in file.read_text().splitlines()]

    return lines


def prove_speed(programs, count):
    """Measures each rate ``count`` times, in turn with a plain connection."""
    programs = pathlib.Path(programs)
    with Network() as network, tempfile.TemporaryDirectory(prefix="heliograph-") as folder:
        with Farm(network, programs, pathlib.Path(folder)) as farm:
            missed = []
            for rate in RATES:
                network.limit(rate)
                pairs = [(plain(network), farm.speed()) for _ in range(count)]
                ratios = [tested / plainly for plainly, tested in pairs]
                ratio = statistics.median(ratios)
                print(
                    f"speed, {rate} Mbit/s: a plain connection has {statistics.median(p for p, _ in pairs) / 1e6:.2f} Mbit/s of "
                    f"payload, the speed test says {ratio:.3f} of that ({min(ratios):.3f} to {max(ratios):.3f}); "
                    f"goal: {1 - GOAL:.2f} to {1 + GOAL:.2f}"
                )
                if abs(ratio - 1) > GOAL:
                    missed.append(str(rate))
            if missed:
                raise Failure(f"the goal is missed at {', '.join(missed)} Mbit/s")


def plain(network):
    """What a plain TCP connection carries, in bit/s."""
    sender = subprocess.Popen(
        within(network.relay, "/usr/bin/python3", "-c", SENDER, RELAY, LENGTH), stdout=subprocess.PIPE, text=True
    )
    try:
        port = sender.stdout.readline().strip()
        return float(run(*within(network.client, "/usr/bin/python3", "-c", RECEIVER, RELAY, port)))
    finally:
        sender.kill()
        sender.wait()


class Farm:
    """A relay in its namespace, which another machine's user has come to trust. Use it as a context."""

    PORT = 8420

    def __init__(self, network, programs, folder, source="{kind: test-pattern}"):
        self._network, self._programs, self._folder, self._source = network, programs, folder, source
        self._relay = None
        self._environment = os.environ | {"XDG_STATE_HOME": str(folder / "home"), "HELIOGRAPH_KEY_FILE": str(folder / "key")}
        self._environment["HELIOGRAPH_RELAY"] = self._url = f"https://{RELAY}:{self.PORT}"

    def __enter__(self):
        heliograph, keys = self._programs / "heliograph", self._folder / "keys.json"
        run(heliograph, "keys", "make", "client", "--role", "operator", "--keys-file", keys, "--output", self._folder / "key")
        words = ["--http", f"{RELAY}:{self.PORT}", "--tls", "self-signed", "--keys-file", keys]
        configuration = self._folder / "relay.yaml"
        configuration.write_text(f"devices:\n  default: {{source: {self._source}}}\n")
        words += ["--config", configuration]
        words += ["--state-file", "none", "--library", "none", "--agent-link", "127.0.0.1:0", "--session-port-base", "0", "--hide"]
        self._log = open(self._folder / "relay.log", "wb")
        self._relay = subprocess.Popen(
            within(self._network.relay, self._programs / "heliograph-relay", *words),
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env=self._environment,
        )
        try:
            eventually("the relay", self._trusts, pause=0.1)
        except BaseException:
            print((self._folder / "relay.log").read_text(errors="replace"))
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._relay.terminate()
        self._relay.wait(30)
        self._log.close()

    def _words(self, *words):
        return within(self._network.client, self._programs / "heliograph", *words)

    def _trusts(self):
        if self._relay.poll() is not None:
            raise Failure("the relay has ended")
        words = self._words("trust", "add", self._url, "--first")
        return subprocess.run(words, env=self._environment, capture_output=True).returncode == 0

    def begin(self):
        """Starts the broadcast."""
        run(*self._words("start"), env=self._environment)

    def start(self, name, **settings):
        """Starts a session of the name."""
        words = self._words("session", "start", name, *(f"--{word}={value}" for word, value in settings.items()))
        run(*words, env=self._environment)

    def watch(self, namespace, name, seconds):
        """Watches a session in a namespace, see :func:`watch`."""
        address, file = f"{self._url}/v1/devices/default/sessions/{name}/ws", self._folder / f"watched-{name}"
        return watch(namespace, address, (self._folder / "key").read_text().strip(), file, seconds)

    def speed(self):
        """What the speed test says, in bit/s."""
        return json.loads(run(*self._words("speedtest", "--for", LENGTH, "--json"), env=self._environment))["bitrate"]
