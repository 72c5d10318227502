"""From a program's drawing to a viewer's window, beside other players of the same stream, without a graphics card."""

import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from scene import DESKTOP, Failure, Scene, percentile, start_desktop, tool

#: How many pictures a second the program draws, and the session's frame rate.
DRAWN, FPS = 30, 60
#: How long a player plays before it is measured: ffplay looks at a stream for 5 s before it shows it.
SETTLING = 8.0
#: What else a window may take, in s. A picture that comes later is not looked for.
LONGEST = 2.0


class Drawing(Scene):
    """A desktop on which a program draws, and a relay that captures it and needs no keys. Use it as a context."""

    _keys_file = "none"
    _client = None

    def _make_keys(self):
        self.keys = dict.fromkeys(self.ROLES)

    def start_client(self):
        self.desktop("stage", tool("counter-x11"))
        self._stamps = self.directory / "home/stamps"
        words = ["counter-x11", "--scene", "scroll", "--fps", DRAWN, "--stamps", self._stamps]
        self._client = start(self.directory, words)

    def __exit__(self, *rest):
        if self._client:
            end(self._client)
        super().__exit__(*rest)

    def drawn(self):
        """When each value was drawn, in ns."""
        return {int(line.split()[0]): int(line.split()[1]) for line in self._stamps.read_text().splitlines()[:-1]}


class Window:
    """An empty desktop for windows, with a program that says when each picture appears on it. Use it as a context."""

    WATCHES = {"xvfb": "counter-watch-x11", "sway": "counter-watch-wayland"}

    def __init__(self, kind, size):
        self.kind, self.size = kind, size
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="heliograph-", dir="/tmp"))
        self.directory.chmod(0o755)
        self._desktop = None

    def __enter__(self):
        self._desktop = start_desktop(self.directory, self.kind, self.size)
        self.stage(tool(self.WATCHES[self.kind]))
        return self

    def __exit__(self, *_):
        if self._desktop:
            self._desktop.stdin.close()
            self._desktop.wait(30)
        shutil.rmtree(self.directory, ignore_errors=True)

    def stage(self, program):
        subprocess.run([DESKTOP, "stage", self.directory, program], check=True, stdin=subprocess.DEVNULL)

    def seen(self, seconds):
        """Watches the desktop, and returns when each value appeared, in ns."""
        words = ["timeout", str(seconds), self.WATCHES[self.kind]]
        lines = start(self.directory, words, stdout=subprocess.PIPE, text=True).communicate()[0].splitlines()
        return dict(map(int, line.split()) for line in lines)


def start(directory, words, **options):
    """Starts a program on a desktop."""
    words = [DESKTOP, "exec", directory, *words]
    return subprocess.Popen(list(map(str, words)), stdin=subprocess.DEVNULL, start_new_session=True, **options)


def end(process):
    """Ends a program and what it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(5)
            return
        except subprocess.TimeoutExpired:
            continue
        except ProcessLookupError:
            process.wait()
            return


def players(kind, port, session):
    """Each player's command. The others get the container and the options with which they are fastest."""
    output, sink = {"xvfb": ("x11", "ximagesink"), "sway": ("wlshm", "waylandsink")}[kind]
    url = f"http://127.0.0.1:{port}"
    stream = f"{url}/v1/sessions/{session['id']}/stream.ts"
    return {
        "heliograph view": ["heliograph-view", "--relay", url, "--full-screen", "--mute", session["id"]],
        "ffplay": [
            *["ffplay", "-v", "error", "-fs", "-an", "-fflags", "nobuffer", "-flags", "low_delay", stream],
        ],
        "mpv": [
            *["mpv", "--no-config", "--really-quiet", "--fs", "--profile=low-latency", "--untimed", "--no-audio"],
            *[f"--vo={output}", stream],
        ],
        "GStreamer": [
            *["gst-launch-1.0", "-q", "tcpclientsrc", "host=127.0.0.1", f"port={session['port']}", "!", "h264parse"],
            *["!", "avdec_h264", "max-threads=1", "!", "videoconvert", "!", sink, "sync=false"],
        ],
    }


def prove_view(kind, programs, rounds=5, seconds=10.0, size=(1280, 720)):
    """Measures each player in turn on a desktop of one kind, ``rounds`` times.

    :raises Failure: If another player is faster in a round.
    """
    results = {}
    with Drawing("xvfb", programs, size) as scene, Window(kind, size) as window:
        window.stage(pathlib.Path(programs) / "heliograph-view")
        scene.start_broadcast()
        session = scene.session("view", fps=FPS, keyframeInterval=1)
        for _ in range(rounds):
            for name, words in players(kind, scene.ports["http"], session).items():
                player = start(window.directory, words)
                try:
                    time.sleep(SETTLING)
                    seen = window.seen(seconds)
                finally:
                    end(player)
                results.setdefault(name, []).append(latencies(name, seen, scene.drawn(), seconds))
    report(kind, results)


def latencies(name, seen, drawn, seconds):
    """The times from the drawing of a picture until it was in the window, in ms."""
    times = [(seen[value] - drawn[value]) / 1e6 for value in seen if value in drawn]
    times = [time for time in times if 0 <= time <= LONGEST * 1e3]
    if len(times) < DRAWN * seconds * 0.5:
        raise Failure(f"{name} showed {len(times)} pictures in {seconds:g} s")
    return percentile(times, 0.5), percentile(times, 0.95), len(times) / seconds


def report(kind, results):
    own, losses = results["heliograph view"], []
    for name, rounds in results.items():
        medians, tails, rates = zip(*rounds)
        print(
            f"view, {kind}: {name}: p50 {statistics.median(medians):.1f} ms ({min(medians):.1f} to {max(medians):.1f}), "
            f"p95 {statistics.median(tails):.1f} ms ({min(tails):.1f} to {max(tails):.1f}), {min(rates):.1f} pictures/s"
        )
        if name != "heliograph view":
            losses += [name for ours, theirs in zip(own, rounds) if ours[0] >= theirs[0] or ours[1] >= theirs[1]]
    if losses:
        raise Failure(f"a round was lost to {', '.join(losses)}")
