"""How far sound is from the picture in the streams: programs that draw and that beep say when."""

import os
import signal
import time

import numpy

from scene import DEVICE, Failure, eventually
from stage import Stage, beginnings
from streams import FORMS

#: The farthest that 99 of 100 may be, in ms.
GOAL = 20
#: How often the picture changes and a beep comes, in ms.
CHANGE, BEEP = 250, 500
#: The time between two keyframes, in s.
KEYFRAME = 1
#: How long each stream is recorded after a disturbance, in s.
AFTER = 30
#: How much brighter or darker, in the mean of all points, a picture is after a change: 7 at least. A keyframe of the
#: same picture is sharper by 1.5 at most.
CHANGED = 4


def prove_skew(kind, programs, minutes=10.0):
    """Measures all forms of a stream for ``minutes``, and again after each of three disturbances."""
    with Stage(kind, programs, fallback="none") as stage:
        scene = Scene(stage)
        measure(kind, scene, minutes * 60)
        os.kill(stage.agent_pids()[0], signal.SIGKILL)
        eventually("another agent", lambda: stage.agent_pids()[0])
        measure(f"{kind}, after a SIGKILL of the agent", scene, AFTER)
        stage.caller.call("PATCH", f"{DEVICE}/sessions/sound", {"width": 320, "height": 180})
        measure(f"{kind}, after a change of the size", scene, AFTER)
        scene.beeper.end()
        for part in ("pipewire", "wireplumber"):
            stage.desktop("restart", part)
        stage.make_sink()
        scene.beeper = stage.beep("--every", BEEP)
        measure(f"{kind}, after a restart of PipeWire", scene, AFTER)


class Scene:
    """A session of a stage, with a program that draws and one that beeps."""

    def __init__(self, stage):
        self.stage = stage
        stage.session("sound", fps=60, keyframeInterval=KEYFRAME)
        self._shown = stage.directory / "home/shown"
        stage.play("counter-client", "--every", CHANGE, "--shown", self._shown)
        self.beeper = stage.beep("--every", BEEP)
        time.sleep(2)

    def shown(self):
        """When the compositor had drawn pictures, in s."""
        return numpy.array([int(line.split()[1]) for line in self._shown.read_text().splitlines()]) / 1e9


def measure(name, scene, seconds, goal=GOAL):
    """Records all forms at once.

    :raises Failure: If sound is farther from the picture than ``goal``, in ms, in any of them.
    """
    begin = time.monotonic()
    recordings = {form: make(scene.stage, seconds) for form, make in FORMS.items()}
    scene.stage.wait_for_sound()
    for recording in recordings.values():
        recording.wait()
    shown, played, far = scene.shown(), scene.beeper.times(), {}
    for form, recording in recordings.items():
        samples, start = recording.sound()
        beeps, changes = beginnings(samples, start)[1:], changing(recording.pictures())[1:]
        if len(beeps) < seconds / BEEP * 1000 * 0.6 or len(changes) < seconds / CHANGE * 1000 * 0.6:
            raise Failure(f"{name}, {form}: only {len(beeps)} beeps and {len(changes)} changes in {seconds:g} s")
        # The stream's clock has an unknown beginning. What fits both programs best is right: nearly all of their
        # times, because both are regular, and most of them fit many beginnings. A stream begins with a picture that is
        # a keyframe's interval old at most, and shows none that is not shown yet. Without these bounds, a drifting
        # clock of sound would fit best where its error is least.
        is_possible = (shown > begin - KEYFRAME) & (shown + changes[-1] - changes[0] < shown[-1] + CHANGE / 1000)
        offsets = shown[is_possible] - changes[0]
        late_pictures, late_beeps = min(
            (
                (lateness(changes + offset, shown), lateness(beeps + offset, played))
                for offset in offsets
            ),
            key=lambda found: sum(numpy.percentile(numpy.abs(late), 99) for late in found),
        )
        skews = (late_beeps[:, None] - late_pictures[None, :]).ravel() * 1000
        far[form] = numpy.percentile(numpy.abs(skews), 99)
        print(
            f"skew, {name}, {form}: {len(beeps)} beeps, {len(changes)} changes: sound after picture p50 "
            f"{numpy.median(skews):.1f} ms, p99 of its size {far[form]:.1f} ms; goal: {goal}",
            flush=True,
        )
        if far[form] > goal:
            for what, times, late in (("beeps", beeps, late_beeps), ("changes", changes, late_pictures)):
                stray = times[numpy.abs(late - numpy.median(late)) * 1000 > goal / 2] - times[0]
                if len(stray):
                    print(f"  {len(stray)} {what} are far from the others, from {stray[0]:.0f} to {stray[-1]:.0f} s", flush=True)
    if max(far.values()) > goal:
        raise Failure(f"{name}: sound is {max(far.values()):.1f} ms from the picture")


def lateness(times, truth):
    """How much later each time is than the nearest true one. Both rise."""
    after = numpy.clip(numpy.searchsorted(truth, times), 1, len(truth) - 1)
    before = truth[after - 1]
    return times - numpy.where(times - before < truth[after] - times, before, truth[after])


def changing(pictures):
    """The times at which the picture changes, in s, from pairs of a time and the picture's brightness."""
    times, last = [], None
    for time_, luma in pictures:
        luma = luma.astype(numpy.int16)
        if last is not None and last.shape == luma.shape and numpy.abs(luma - last).mean() > CHANGED:
            times.append(time_)
        last = luma
    return numpy.array(times)
