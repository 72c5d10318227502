"""A sine for ten minutes, and while agents are killed: no sample may be missing, and nothing may be added."""

import os
import signal
import time

import numpy

from scene import Failure, eventually
from stage import RATE, Stage, require
from streams import FORMS

FREQUENCY = 1000
#: 20 ms, whole periods.
PART = RATE // 50
#: The least ratio of the sine to all else, in dB.
LEAST_RATIO = 40


def prove_sine(programs, minutes=10.0):
    """Plays a sine at 128 kbit/s."""
    with Stage("none", programs, ["--audio-bitrate", "128"]) as stage:
        stage.session("sound", width=320, height=240, fps=5)
        stage.beep("--every", 1e9, "--length", 1e9)
        parts = listen(stage, minutes * 60, lambda: None)
        report("sine", parts)
        worst = parts["ratio"].min()
        require(worst > LEAST_RATIO, f"the sine is only {worst:.1f} dB above the rest somewhere")


def prove_kills(programs, count=20):
    """Kills agents while a sine is played. The other one continues it."""
    with Stage("none", programs, fallback="test-pattern") as stage:
        stage.session("sound", width=320, height=240, fps=5)
        stage.beep("--every", 1e9, "--length", 1e9)

        def kill():
            for number in range(1, count + 1):
                eventually("both agents' captures", lambda: len(stage.sound()["capturing"]) == 2)
                # The other agent keeps the last second.
                time.sleep(1.2)
                pid = stage.agent_pids()[0 if stage.sound()["agent"] == "primary" else 1]
                os.kill(pid, signal.SIGKILL)
                eventually("the other agent's sound", lambda: stage.sound()["switches"] == number)

        parts = listen(stage, count * 8.0, kill)
        report(f"{count} kills", parts)


def listen(stage, seconds, meanwhile):
    """Records the stream, and returns each part's level, phase in samples, and ratio to the rest in dB."""
    recording = FORMS["MPEG-TS"](stage, seconds)
    stage.wait_for_sound()
    meanwhile()
    recording.wait()
    samples, _ = recording.sound()
    count = len(samples) // PART
    parts = samples[: count * PART].reshape(count, PART).astype(numpy.float64)
    angle = 2 * numpy.pi * FREQUENCY * numpy.arange(PART) / RATE
    # Drifting, its frequency is a little other: sine and cosine grow and shrink within a part.
    growth = numpy.linspace(-1, 1, PART)
    shapes = numpy.stack([shape * way(angle) for shape in (1, growth) for way in (numpy.sin, numpy.cos)])
    factors = parts @ numpy.linalg.pinv(shapes)
    fitted, (sine, cosine) = factors @ shapes, factors[:, :2].T
    rest = ((parts - fitted) ** 2).mean(axis=1)
    level = numpy.sqrt((fitted**2).mean(axis=1))
    loud = numpy.flatnonzero(level > 0.2)
    if len(loud) < 50:
        raise Failure("the sine is not heard")
    # The first and the last parts fade.
    kept = slice(loud[0] + 5, loud[-1] - 4)
    phase = numpy.unwrap(numpy.arctan2(cosine, sine)[kept]) / (2 * numpy.pi) * RATE / FREQUENCY
    return {
        "level": level[kept],
        "ratio": 10 * numpy.log10(level[kept] ** 2 / numpy.maximum(rest[kept], 1e-12)),
        "phase": phase - phase[0],
    }


def report(name, parts):
    level, phase, ratio = parts["level"], parts["phase"], parts["ratio"]
    silent = numpy.flatnonzero(level < 0.9 * numpy.median(level))
    quiet = len(silent)
    print(
        f"{name}: {len(level) / 50:.0f} s, the sine {numpy.median(ratio):.1f} dB above the rest (worst 20 ms: "
        f"{ratio.min():.1f}), {quiet} parts too quiet, phase within {phase.min():.2f} to {phase.max():.2f} samples"
    )
    require(quiet == 0, f"{quiet} parts of 20 ms are too quiet, at {silent[:9] / 50} s")
    # A sample that is missing or added shifts all that follows.
    require(numpy.abs(phase).max() < 0.5, "samples are missing or were added")
