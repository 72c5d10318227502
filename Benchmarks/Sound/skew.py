"""How far sound is from the picture in the streams: programs that draw and that beep say when they did."""

import os
import signal
import time

import av
import numpy

from scene import DEVICE, Failure, eventually
from stage import Stage, beginnings, decoded

#: The farthest that 99 of 100 may be, in ms.
GOAL = 20
#: How often the picture changes and a beep comes, in ms.
CHANGE, BEEP = 250, 500
#: How much brighter or darker, in the mean of all points, a picture is after a change: 7 at least. A keyframe of the
#: same picture is sharper by 1.5 at most.
CHANGED = 4
#: How long after it was drawn a picture is shown, in the mean, in s: at the next refresh of 60 a second.
SHOWN = 0.5 / 60


def prove_skew(kind, programs, minutes=10.0):
    """Measures a stream for ``minutes``, and again after each of three disturbances."""
    with Stage(kind, programs, fallback="none") as stage:
        stage.session("sound", fps=60, keyframeInterval=1)
        stamps = stage.directory / "home/stamps"
        stage.play("counter-client", "--every", CHANGE, "--stamps", stamps)
        beeper = stage.beep("--every", BEEP)
        time.sleep(2)
        for container in ("ts", "mp4"):
            measure(f"{kind}, {container}", stage, f"stream.{container}", minutes * 30, stamps, beeper)
        os.kill(stage.agent_pids()[0], signal.SIGKILL)
        eventually("another agent", lambda: stage.agent_pids()[0])
        measure(f"{kind}, after a SIGKILL of the agent", stage, "stream.ts", 30, stamps, beeper)
        stage.caller.call("PATCH", f"{DEVICE}/sessions/sound", {"width": 320, "height": 180})
        measure(f"{kind}, after a change of the size", stage, "stream.ts", 30, stamps, beeper)
        beeper.end()
        for part in ("pipewire", "wireplumber"):
            stage.desktop("restart", part)
        stage.make_sink()
        beeper = stage.beep("--every", BEEP)
        measure(f"{kind}, after a restart of PipeWire", stage, "stream.ts", 30, stamps, beeper)


def measure(name, stage, path, seconds, stamps, beeper):
    recorder, file = stage.record(path, seconds)
    stage.wait_for_sound()
    recorder.wait()
    samples, start = decoded(file)
    beeps, changes = beginnings(samples, start)[1:], pictured(file)[1:]
    drawn = numpy.array([int(line.split()[1]) for line in stamps.read_text().splitlines()]) / 1e9
    shown, played = drawn + SHOWN, beeper.times()
    if len(beeps) < seconds / BEEP * 1000 * 0.6 or len(changes) < seconds / CHANGE * 1000 * 0.6:
        raise Failure(f"{name}: only {len(beeps)} beeps and {len(changes)} changes in {seconds:g} s")
    # The stream's clock has an unknown beginning. What fits both programs best is right: nearly all of their times,
    # because both are regular, and most of them fit many beginnings.
    offsets = shown - changes[len(changes) // 2]
    late_pictures, late_beeps = min(
        ((lateness(changes + offset, shown), lateness(beeps + offset, played)) for offset in offsets),
        key=lambda found: sum(numpy.percentile(numpy.abs(late), 99) for late in found),
    )
    skews = (late_beeps[:, None] - late_pictures[None, :]).ravel() * 1000
    far = numpy.percentile(numpy.abs(skews), 99)
    print(
        f"skew, {name}: {len(beeps)} beeps, {len(changes)} changes: sound after picture p50 "
        f"{numpy.median(skews):.1f} ms, p99 of its size {far:.1f} ms; goal: {GOAL}"
    )
    if far > GOAL:
        raise Failure(f"{name}: sound is {far:.1f} ms from the picture")


def lateness(times, truth):
    """How much later each time is than the nearest true one."""
    nearest = truth[numpy.abs(truth[None, :] - times[:, None]).argmin(axis=1)]
    return times - nearest


def pictured(path):
    """The times at which the picture changes, in s."""
    times, last = [], None
    with av.open(str(path)) as file:
        for frame in file.decode(video=0):
            luma = numpy.frombuffer(frame.planes[0], dtype=numpy.uint8).astype(numpy.int16)
            if last is not None and last.shape == luma.shape and numpy.abs(luma - last).mean() > CHANGED:
                times.append(frame.time)
            last = luma
    return numpy.array(times)
