"""Hostile input: random and mutated bodies at the relay by callers of all roles, and such orders at an agent.

Nothing may crash, act without the right, or reach the desktop beyond its limits, and nothing may stay held.
"""

import json
import os
import random
import signal
import socket
import struct
import subprocess
import threading
import time

from scene import BACKENDS, DESKTOP, DEVICE, SOURCES, Caller, Failure, Scene, eventually

#: What the relay may answer to a call. 500 would be a fault of its own.
STATUSES = {200, 400, 401, 403, 404, 405, 409, 411, 413, 415, 429, 502, 503, 504}
ACTORS = ("operator", "controller")
#: Callers at a time.
CALLERS = 4
#: How many fingers and keys may be down at once.
FINGERS = 10
SIZE = (1280, 720)


def prove(kind, programs, minutes=5.0, seed=1):
    """Attacks for ``minutes`` on one kind of desktop, half of them the relay and half of them an agent."""
    attack_relay(kind, programs, minutes * 30, seed)
    attack_agent(kind, programs, minutes * 30, seed)


# The relay


def attack_relay(kind, programs, seconds, seed):
    with Scene(kind, programs, SIZE) as scene:
        scene.start_broadcast()
        scene.session("shared")
        agent = scene.wait_for_agent()
        strangers = {"viewer": scene.keys["viewer"], "none": None, "wrong": "x" * 40}
        without = run_callers(scene, strangers, seconds / 4, seed)
        time.sleep(0.5)
        came = [event for event in scene.log.read() if event.name in ("button", "key", "touch", "motion", "wheel")]
        if came:
            raise Failure(f"callers without the right made {len(came)} events: {', '.join(map(str, came[:5]))}")
        answers = run_callers(scene, scene.keys | strangers, seconds * 3 / 4, seed + 1)
        finish(scene, agent)
        counts = {status: without.get(status, 0) + answers.get(status, 0) for status in sorted({*without, *answers})}
        words = ", ".join(f"{status}: {count}" for status, count in counts.items())
        print(
            f"hostile, {kind}, relay: {sum(counts.values())} calls in {seconds:.0f} s ({words}); "
            f"{len(scene.log.events)} events, none of callers without the right, none outside the screen; "
            "nothing held; relay and agent go on"
        )


def run_callers(scene, keys, seconds, seed):
    """Runs callers at once. Returns how many answers had each status."""
    counts, faults, lock = {}, [], threading.Lock()
    deadline = time.monotonic() + seconds

    def run(number):
        generator = random.Random(seed * 1000 + number)
        while time.monotonic() < deadline and not faults:
            role = generator.choice(list(keys))
            caller = Caller(scene.ports["http"], keys[role])
            try:
                for _ in range(generator.randint(1, 20)):
                    body = random_body(generator)
                    method = generator.choices(["POST", "DELETE", "PUT", "GET"], [16, 2, 1, 1])[0]
                    answer = caller.call(method, f"{DEVICE}/actions", body)
                    with lock:
                        counts[answer.status] = counts.get(answer.status, 0) + 1
                        fault = wrong(answer, role)
                        if fault:
                            faults.append(f"{method} {body[:300]!r} of {role}: {fault}")
            except Exception as failure:
                with lock:
                    faults.append(f"a call of {role}: {failure!r}; the relay says: {scene.last_words()}")
            finally:
                caller.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(CALLERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise Failure(faults[0])
    return counts


def wrong(answer, role):
    """Says what is wrong with an answer; ``None`` if nothing is."""
    if answer.status not in STATUSES:
        return f"status {answer.status}: {answer.body}"
    if answer.status == 200 and role not in ACTORS:
        return f"it was done: {answer.body}"
    if answer.status != 200 and answer.body and not answer.code:
        return f"status {answer.status} without a code: {answer.body}"
    return None


def finish(scene, agent):
    """Checks that both processes live, that nothing is held, and that all events were within limits."""
    scene.caller.call("DELETE", f"{DEVICE}/actions?take=true")
    if scene.relay.poll() is not None:
        raise Failure(f"the relay ended with status {scene.relay.returncode}")
    found = scene.wait_for_agent()
    if found != agent:
        raise Failure(f"agent {agent} is gone; the relay says: {scene.last_words(20)}")
    check_events(scene)


def expect_nothing_held(scene, when):
    try:
        eventually(f"nothing is held {when}", lambda: scene.log.read() is not None and not scene.log.held, limit=5)
    except Failure as failure:
        held, last = sorted(scene.log.held), [str(event) for event in scene.log.events[-12:]]
        raise Failure(f"{failure}: {held}; the last events: {last}") from None


def check_events(scene):
    expect_nothing_held(scene, "at the end")
    width, height = SIZE
    fingers = 0
    for event in scene.log.events:
        if event.name in ("motion", "button", "touch"):
            x, y = event.place
            # A button that is held keeps the pointer's events coming from the screen's edge.
            if not (0 <= x <= width and 0 <= y <= height):
                raise Failure(f"an event is outside the screen: {event}")
        if event.name == "touch":
            fingers += {"down": 1, "up": -1, "cancel": -1}.get(event.fields[1], 0)
            if fingers > FINGERS:
                raise Failure(f"{fingers} fingers are down at once: {event}")


def random_body(generator):
    """Bytes of a body: actions, actions with something changed, or noise."""
    choice = generator.random()
    if choice < 0.05:
        return generator.randbytes(generator.randint(0, 300))
    value = random_actions(generator)
    if choice < 0.5:
        value = mutated(generator, value)
    data = json.dumps(value).encode()
    if choice > 0.85:
        data = mutated_bytes(generator, data)
    return data


def number(generator):
    choices = [0, 1, -1, 5, 640, 1279, 1280, 65536, -65537, 2**31, 2**63, 1e308, 0.5, generator.uniform(-100, 2000)]
    return generator.choice(choices)


def place(generator):
    return {"x": generator.randrange(SIZE[0]), "y": generator.randrange(SIZE[1])}


def random_actions(generator):
    """A body that is right, or nearly."""
    form = generator.choice(["click", "doubleClick", "tap", "swipe", "drag", "scroll", "type", "press", "actions"])
    stroke = {
        "from": list(place(generator).values()),
        "to": list(place(generator).values()),
        "duration": generator.choice([0, 0.05, 0.2]),
    }
    value = {
        "click": lambda: place(generator) | {"count": generator.randint(1, 3)},
        "scroll": lambda: place(generator) | {"dx": number(generator), "dy": number(generator)},
        "swipe": lambda: stroke,
        "drag": lambda: stroke,
        "type": lambda: "".join(chr(generator.choice([0x61, 0x7F, 0xE9, 0x4E2D, 0x1F600, 0x301, 9, 10])) for _ in range(20)),
        "press": lambda: generator.choice(["ctrl+a", "a b c", "enter", "+", "ctrl++", "", "f24", "ctrl+shift+alt+a", "x" * 40]),
        "actions": lambda: sources(generator),
    }.get(form, lambda: place(generator))()
    body = {form: value}
    if generator.random() < 0.2:
        body["take"] = True
    if generator.random() < 0.1:
        body["geometry"] = generator.randrange(2**32)
    if generator.random() < 0.1:
        body["session"] = generator.choice(["shared", "1", "nowhere", 1, 99])
    return body


def sources(generator):
    found = []
    for index in range(generator.randint(1, 12)):
        kind = generator.choice(["key", "pointer", "pointer", "wheel", "none"])
        source = {"type": kind, "id": f"{kind} {index}", "actions": []}
        if kind == "pointer" and generator.random() < 0.6:
            source["parameters"] = {"pointerType": generator.choice(["mouse", "touch", "pen"])}
        for _ in range(generator.randint(0, 6)):
            source["actions"].append(action(generator, kind))
        found.append(source)
    return found


def action(generator, kind):
    if kind == "none" or generator.random() < 0.1:
        return {"type": "pause", "duration": generator.choice([0, 1, 20])}
    if kind == "key":
        key = generator.choice(["a", "Z", "\ue008", "\ue009", "\ue00a", "\ue03d", "\u00e9", "ab", ""])
        return {"type": generator.choice(["keyDown", "keyUp"]), "value": key}
    if kind == "wheel":
        return {"type": "scroll", **place(generator), "deltaX": number(generator), "deltaY": number(generator)}
    form = generator.choice(["pointerMove", "pointerDown", "pointerUp", "pointerCancel"])
    if form == "pointerMove":
        origin = generator.choice(["viewport", "pointer", {"element": 1}, "viewport"])
        return {"type": form, **place(generator), "duration": generator.choice([0, 30]), "origin": origin}
    return {"type": form, "button": generator.choice([0, 1, 2, 3, 4, 9, -1])}


def mutated(generator, value):
    """Replaces one part of a value by something else."""
    if isinstance(value, dict) and value and generator.random() < 0.8:
        key = generator.choice(list(value))
        changed = dict(value)
        if generator.random() < 0.1:
            changed[key + "x"] = changed.pop(key)
        else:
            changed[key] = mutated(generator, value[key])
        return changed
    if isinstance(value, list) and value and generator.random() < 0.8:
        changed = list(value)
        index = generator.randrange(len(changed))
        if generator.random() < 0.1:
            return changed * 50
        changed[index] = mutated(generator, changed[index])
        return changed
    return generator.choice([None, True, "", "x" * 1000, [], {}, [[[[]]]], number(generator), -number(generator), {"x": 1}])


def mutated_bytes(generator, data):
    data = bytearray(data)
    for _ in range(generator.randint(1, 4)):
        where = generator.randrange(len(data) + 1)
        match generator.randrange(3):
            case 0:
                del data[where : where + generator.randint(1, 20)]
            case 1:
                data[where:where] = generator.randbytes(generator.randint(1, 4))
            case 2:
                if where < len(data):
                    data[where] ^= 1 << generator.randrange(8)
    return bytes(data)


# The agent

WELCOME = {
    "heartbeatInterval": 2000,
    "maximumQueuedMedia": 1000,
    "takesRest": False,
    "takesUnchanged": False,
    "takesTracks": False,
    "takesInputs": True,
}
KINDS = {"welcome": 1, "add": 3, "input": 12, "done": 76, "inputs": 77}


def attack_agent(kind, programs, seconds, seed):
    generator = random.Random(seed)
    with Scene(kind, programs, SIZE) as scene, socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(15)
        agent = subprocess.Popen(
            [DESKTOP, "exec", scene.directory, "capture-agent", "--source", SOURCES[kind]]
            + ["--relay", f"127.0.0.1:{server.getsockname()[1]}"],
            stdin=subprocess.DEVNULL,
            stderr=open(scene.directory / "agent.log", "wb"),
            env=os.environ | {"HELIOGRAPH_LINK_TOKEN": "a token of this test"},
        )
        try:
            deadline = time.monotonic() + seconds
            links = orders = answers = 0
            while time.monotonic() < deadline:
                link = accept(server, agent)
                links += 1
                with link:
                    sent, received = send_orders(link, generator, deadline, kind)
                orders, answers = orders + sent, answers + received
                # The link's end releases what is held.
                expect_nothing_held(scene, "after the link's end")
            if agent.poll() is not None:
                raise Failure(f"the agent ended with status {agent.returncode}")
            check_events(scene)
            print(
                f"hostile, {kind}, agent: {orders} orders over {links} links in {seconds:.0f} s, {answers} answers, "
                f"{len(scene.log.events)} events, none outside the screen; nothing held after any link; the agent goes on"
            )
        finally:
            if agent.poll() is None:
                agent.send_signal(signal.SIGTERM)
                agent.wait(10)


def accept(server, agent):
    try:
        link = server.accept()[0]
    except TimeoutError:
        raise Failure(f"the agent does not connect again; its status: {agent.poll()}") from None
    link.settimeout(10)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return link


def packet(kind, session, body):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return struct.pack(">4sBBHII", b"HLGW", 1, KINDS[kind], 0, session, len(data)) + data


class Reader(threading.Thread):
    """Reads an agent's packets until the link ends."""

    def __init__(self, link):
        super().__init__(daemon=True)
        self._link, self.answers, self.backend, self.has_ended = link, 0, None, False
        self.start()

    def run(self):
        try:
            while True:
                _, _, kind, _, _, length = struct.unpack(">4sBBHII", self._read(16))
                body = self._read(length)
                if kind == KINDS["done"]:
                    self.answers += 1
                elif kind == KINDS["inputs"]:
                    self.backend = json.loads(body)["backend"]
        except (OSError, EOFError):
            self.has_ended = True

    def _read(self, count):
        data = b""
        while len(data) < count:
            got = self._link.recv(count - len(data))
            if not got:
                raise EOFError
            data += got
        return data


def send_orders(link, generator, deadline, kind):
    """Sends orders until the agent ends the link or has had many. Returns how many were sent and answered."""
    reader = Reader(link)
    session = {
        "codec": "h264", "encoder": "auto", "size": {}, "fps": 10, "bitrate": 1_000_000, "repeat": True,
        "keyframeInterval": 10_000, "stillKeyframeInterval": 60_000, "epoch": time.monotonic_ns(), "active": False,
    }  # fmt: skip
    sent = 0
    try:
        link.sendall(packet("welcome", 0, WELCOME))
        eventually("the agent's backend", lambda: reader.backend or reader.has_ended, 15)
        if reader.backend not in (BACKENDS[kind], None):
            raise Failure(f"the agent's backend is {reader.backend}")
        link.sendall(packet("add", 1, session))
        for identifier in range(1, generator.randint(5, 400)):
            if reader.has_ended or time.monotonic() > deadline:
                break
            body = order(generator, identifier)
            if generator.random() < 0.005:
                body = mutated_bytes(generator, body)
            link.sendall(packet("input", generator.choice([1, 1, 1, 0, 9]), body))
            sent += 1
            # An agent has room for 64 orders.
            if sent - reader.answers > generator.randrange(60):
                wait_for_answers(reader, sent)
    except OSError:
        pass
    # Half of the links end while orders wait.
    if generator.random() < 0.5:
        wait_for_answers(reader, sent)
    answers = reader.answers
    link.close()
    return sent, answers


def wait_for_answers(reader, sent):
    deadline = time.monotonic() + 10
    while reader.answers < sent and not reader.has_ended and time.monotonic() < deadline:
        time.sleep(0.002)


def order(generator, identifier):
    """An order's bytes (wire.md, Input), with values that may be out of all bounds."""
    steps = [step(generator) for _ in range(generator.randint(0, 12))]
    geometry = generator.choice([0, 0, 0, generator.randrange(2**32)])
    count = len(steps) if generator.random() < 0.997 else generator.randrange(2**16)
    return struct.pack(">IIHH", identifier, geometry, count, 0) + b"".join(steps)


def step(generator):
    def coordinates():
        wild = [0, -1, 1280, 65536, -65536, 0.5, 1e-300]
        pick = lambda side: generator.choice(wild) if generator.random() < 0.05 else generator.uniform(0, side)
        return struct.pack(">dd", pick(SIZE[0]), pick(SIZE[1]))

    state = generator.randrange(2)
    match generator.choices(range(1, 11), [6, 3, 4, 2, 4, 6, 2, 2, 1, 0.02])[0]:
        case 1:
            return b"\x01" + coordinates()
        case 2:
            return b"\x02" + struct.pack(">dd", generator.uniform(-50, 50), generator.uniform(-50, 50))
        case 3:
            return b"\x03" + struct.pack(">HB", generator.randint(0x110, 0x117), state)
        case 4:
            return b"\x04" + struct.pack(">dd", generator.choice([0, 1, -120, 65536]), generator.choice([0, 0.5, 120, -65536]))
        case 5:
            return b"\x05" + struct.pack(">BB", generator.choice([0, 1, 9, 255]), generator.randint(1, 4)) + coordinates()
        case 6:
            symbols = [0x61, 0x41, 0xFFE1, 0xFFE3, 0xFF51, 0x01004E2D, 0x0101F600, 0, 0xFFFFFFFF, 0x1008FF13]
            return b"\x06" + struct.pack(">IB", generator.choice(symbols), state)
        case 7:
            text = "".join(generator.choice("abcé中😀 ") for _ in range(generator.randint(0, 30))).encode()
            return b"\x07" + struct.pack(">I", len(text)) + text
        case 8:
            return b"\x08" + struct.pack(">H", generator.randint(0, 20))
        case 9:
            return b"\x09"
        case _:
            return generator.randbytes(generator.randint(1, 20))
