"""Sound whose device counts faster or slower than the machine: how far it is from the picture, and whether it clicks."""

import concurrent.futures
import pathlib

import numpy

from scene import eventually
from sine import PART, listen
from skew import Scene, measure
from stage import Stage, require

#: The group of nodes that the driver drives.
GROUP = "drift"
#: The farthest that 99 of 100 may be from the picture, in ms.
GOAL = 10
#: The least ratio of a sine to all else in 20 ms, in dB. A click is far below.
LEAST_RATIO = 35
#: How much memory an agent may gain, in MB.
GAIN = 8


def prove_drift(programs, ppm, minutes=30.0):
    """Measures beeps beside pictures, and a sine, at once. Their sinks gain ``ppm`` millionths on the machine."""
    with concurrent.futures.ThreadPoolExecutor() as pool:
        runs = [pool.submit(prove, programs, ppm, minutes * 60) for prove in (prove_skew, prove_sine)]
    for run in runs:
        run.result()


def prove_skew(programs, ppm, seconds):
    with Stage("sway", programs, group=GROUP) as stage:
        driver = stage.play("drift-driver", "--group", GROUP, "--ppm", ppm)
        scene = Scene(stage)
        eventually("the driver", driver.text)
        agent = stage.agent_pids()[0]
        # What it takes at the start is taken.
        measure(f"{ppm:+d} ppm, at first", scene, 30, GOAL)
        before = memory(agent)
        measure(f"{ppm:+d} ppm", scene, seconds, GOAL)
        gain = memory(agent) - before
    print(f"drift, {ppm:+d} ppm: the agent gained {gain:.1f} MB; goal: {GAIN}", flush=True)
    require(gain <= GAIN, f"the agent gained {gain:.1f} MB")


def prove_sine(programs, ppm, seconds):
    with Stage("none", programs, group=GROUP) as stage:
        driver = stage.play("drift-driver", "--group", GROUP, "--ppm", ppm)
        stage.session("sound", width=320, height=240, fps=5)
        stage.beep("--every", 1e9, "--length", 1e9)
        eventually("the driver", driver.text)
        parts = listen(stage, seconds, lambda: None)
    level, ratio, phase = parts["level"], parts["ratio"], parts["phase"]
    gained = phase[-1] / (len(phase) * PART) * 1e6
    print(
        f"drift, {ppm:+d} ppm: {len(level) / 50:.0f} s of a sine {numpy.median(ratio):.1f} dB above the rest (worst "
        f"20 ms: {ratio.min():.1f}), whose level is at least {level.min() / numpy.median(level):.2f} of the median, and "
        f"which gains {gained:+.0f} millionths; goal: {LEAST_RATIO} dB",
        flush=True,
    )
    require(ratio.min() > LEAST_RATIO, f"the sine is only {ratio.min():.1f} dB above the rest somewhere")
    # 10 ms at most in all.
    require(abs(gained - ppm) * seconds < 10_000, f"the sine gains {gained:.0f} millionths")


def memory(pid):
    """How much memory a process has, in MB."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024
