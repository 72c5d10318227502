"""From a click to the decoded picture that shows it, beside VNC servers in the same run, with the same client.

The goals are for clicks where the pointer is. A click elsewhere moves it first, for which some desktops draw a picture of
its own: what the click changes is in the next one.
"""

import os
import random
import shutil
import signal
import socket
import subprocess
import time

from scene import DESKTOP, DEVICE, Failure, Scene, percentile
from viewers import CLICK, RFBViewer, StreamViewer

#: The goals by the session's frame rate, in ms: the median, and the 99th percentile.
GOALS = {30: (40, 75), 60: (28, 75)}
#: How many samples a contender takes before the next one has its turn.
BLOCK = 25
#: One more click in so many moves the pointer first.
MOVING = 5
#: How far it moves, in pixels.
MOVE = 8
#: What a session's status says of the time from capture to relay, in all and by its parts.
STAGES = {
    "captureToRelay": "from capture to relay",
    "wait": "to the encoder",
    "encode": "in it",
    "link": "to the relay",
}
#: How long a click holds the button: ActionPlan of Sources/HeliographAPI.
PRESS = 0.02


class Heliograph:
    """A session of one frame rate, and POST on a connection that stays open."""

    def __init__(self, scene, fps):
        self.scene, self.fps, self.name = scene, fps, f"Heliograph, {fps} fps, POST"
        #: The medians of each block, in ms: from a frame's capture until the relay has its picture, and its parts.
        self.stages = {stage: [] for stage in STAGES}

    def begin(self):
        session = self.scene.session("photon", fps=self.fps, framing="scrcpy")
        self.viewer = StreamViewer(session["port"]).start()

    def click(self, x, y):
        self.scene.caller.act({"session": "photon", "click": {"x": x, "y": y}})

    def end(self):
        latency = self.scene.caller.call("GET", f"{DEVICE}/sessions/photon").body.get("latency") or {}
        for stage, medians in self.stages.items():
            if latency.get(stage):
                medians.append(latency[stage]["p50Ms"])
        self.viewer.close()
        self.scene.caller.call("DELETE", f"{DEVICE}/sessions/photon")

    def explain(self):
        """What the client got last, and what the session says."""
        session = self.scene.caller.call("GET", f"{DEVICE}/sessions/photon").body
        events = [str(event) for event in self.scene.log.read()[-6:]]
        return f"The client's last events: {events}. The session: {session}"

    def close(self):
        pass


class VNC:
    """A VNC server on the same desktop."""

    def __init__(self, scene, name, words):
        self.scene, self.name, self.fps = scene, name, None
        self.port = free_port()
        words = [word.replace("PORT", str(self.port)) for word in words]
        self._log = open(scene.directory / f"{words[0]}-{self.port}.log", "wb")
        self._server = subprocess.Popen(
            [DESKTOP, "exec", scene.directory, *words],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
        )

    def begin(self):
        self.viewer = RFBViewer(self.port).start()

    def click(self, x, y):
        # As a click of Heliograph: the pointer, then the button, which is held for a while.
        self.viewer.point(x, y, 0)
        self.viewer.point(x, y, 1)
        time.sleep(PRESS)
        self.viewer.point(x, y, 0)

    def explain(self):
        return ""

    def end(self):
        self.viewer.close()

    def close(self):
        self._server.send_signal(signal.SIGTERM)
        try:
            self._server.wait(5)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()
        self._log.close()


def peers(scene):
    """The VNC servers that this desktop can have and this machine has."""
    if scene.kind == "xvfb":
        words = ["x11vnc", "-rfbport", "PORT", "-localhost", "-forever", "-shared", "-nopw", "-quiet"]
        servers = [("x11vnc", words), ("x11vnc, -wait 5 -defer 5", words + ["-wait", "5", "-defer", "5"])]
    elif scene.kind == "sway":
        words = ["wayvnc", "--output", "HEADLESS-1", "--max-fps"]
        servers = [(f"wayvnc, {fps} fps", words + [str(fps), "127.0.0.1", "PORT"]) for fps in (30, 60)]
    else:
        servers = []
    found = [server for server in servers if shutil.which(server[1][0])]
    if len(found) < len(servers):
        print(f"photon, {scene.kind}: {servers[0][1][0]} is missing; Scripts/packages peers installs it")
    return [VNC(scene, name, words) for name, words in found]


def prove(kind, programs, count=500, seed=1):
    """Takes ``count`` samples of each contender on one kind of desktop, and prints the figures."""
    generator = random.Random(seed)
    with Scene(kind, programs) as scene:
        scene.start_broadcast()
        contenders = [Heliograph(scene, fps) for fps in GOALS] + peers(scene)
        times = {contender.name: ([], []) for contender in contenders}
        try:
            for start in range(0, count, BLOCK):
                for contender in contenders:
                    taken = sample(contender, generator, min(BLOCK, count - start))
                    for known, new in zip(times[contender.name], taken):
                        known += new
        finally:
            for contender in contenders:
                contender.close()
        report(kind, contenders, times)


def sample(contender, generator, count):
    """Clicks ``count`` times in one place, and more often elsewhere.

    :returns: How long each change took to be seen, in ms: those of one place, and the others.
    """
    resting, moving = [], []
    clicks = [(0, resting)] * count + [(MOVE * (index % 2 + 1), moving) for index in range(max(1, count // MOVING))]
    contender.begin()
    try:
        # The first pictures are of a session that settles.
        contender.viewer.wait_for_change(None, limit=10.0)
        time.sleep(0.5)
        for shift, times in clicks:
            time.sleep(generator.uniform(0.1, 0.2))
            before = contender.viewer.is_green
            begin = time.monotonic_ns()
            contender.click(CLICK[0] + shift, CLICK[1])
            times.append((contender.viewer.wait_for_change(before) - begin) / 1e6)
    except Failure as failure:
        done = len(resting) + len(moving)
        raise Failure(f"{contender.name}, after {done} clicks: {failure}. {contender.explain()}") from None
    finally:
        contender.end()
    return resting, moving


def report(kind, contenders, times):
    missed = []
    medians = {}
    for contender in contenders:
        taken, moving = times[contender.name]
        medians[contender.name] = percentile(taken, 0.5)
        figures = medians[contender.name], percentile(taken, 0.99), min(taken), max(taken)
        goals = GOALS.get(contender.fps)
        share = f" ({stages(contender)})" if goals else ""
        goal = f"; goals: {goals[0]} and {goals[1]} ms" if goals else ""
        print(
            f"photon, {kind}: {contender.name}: {len(taken)} clicks, p50 {figures[0]:.1f} ms{share}, p99 {figures[1]:.1f} ms, "
            f"{figures[2]:.1f} to {figures[3]:.1f} ms{goal}"
        )
        print(
            f"photon, {kind}: {contender.name}: {len(moving)} clicks that move the pointer first, "
            f"p50 {percentile(moving, 0.5):.1f} ms, p99 {percentile(moving, 0.99):.1f} ms"
        )
        if goals and (figures[0] > goals[0] or figures[1] > goals[1]):
            missed.append(contender.name)
    for contender in contenders:
        if contender.fps:
            ratios = [
                f"{medians[contender.name] / medians[peer.name]:.2f} of {peer.name}'s"
                for peer in contenders
                if not peer.fps
            ]
            if ratios:
                print(f"photon, {kind}: the median of {contender.name} is {', '.join(ratios)}")
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    if missed and load > 0.7:
        print(f"photon, {kind}: goals are missed by {', '.join(missed)}; the machine is busy (load {load:.1f} a processor)")
    elif missed:
        raise Failure(f"goals are missed by {', '.join(missed)}")


def stages(contender):
    """The medians of a session's stages, in words."""
    words = [f"{percentile(contender.stages[stage], 0.5):.1f} ms {text}" for stage, text in STAGES.items()]
    return f"{words[0]}: {', '.join(words[1:])}"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
