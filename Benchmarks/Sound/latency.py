"""From a sample that a program plays to the decoded sample at a viewer."""

import os
import time

import av
import numpy

from scene import percentile
from stage import RATE, Stage, require
from streams import Listener

#: The settings of the sound, the graph's quantum, and the goal for the median in ms.
CASES = [("20", 256, 30), ("5", 128, 15)]
#: A little more than a beep each interval, so that beeps fall everywhere into packets, in ms.
EVERY = 303


def prove_latency(programs, count=200):
    for packet, quantum, goal in CASES:
        with Stage("none", programs, ["--audio-packet", packet]) as stage:
            stage.desktop("exec", "pw-metadata", "-n", "settings", "0", "clock.force-quantum", str(quantum))
            stage.session("sound", width=320, height=240, fps=5)
            beeper = stage.beep("--every", EVERY, "--length", 50, "--quantum", quantum)
            listener = Listener(stage)
            stage.wait_for_sound()
            heard = listen(listener, count)
            listener.close()
            played = beeper.times()
        times = [(time_ - played[played < time_][-1]) * 1000 for time_ in heard]
        median = percentile(times, 0.5)
        print(
            f"latency, packets of {packet} ms, quantum {quantum}: {len(times)} beeps, p50 {median:.1f} ms, "
            f"p99 {percentile(times, 0.99):.1f} ms, {min(times):.1f} to {max(times):.1f} ms; goal: {goal}"
        )
        busy = os.getloadavg()[0] / (os.cpu_count() or 1) > 0.7
        require(busy or median <= goal, f"the median is {median:.1f} ms")


def listen(listener, count):
    """When the beginnings of beeps were decoded, in s."""
    decoder = av.CodecContext.create("libopus", "r")
    decoder.sample_rate, decoder.layout = RATE, "stereo"
    times, quiet = [], 0.0
    begin = time.monotonic()
    for packet in listener.packets():
        for frame in decoder.decode(av.Packet(packet)):
            now = time.monotonic()
            if numpy.abs(frame.to_ndarray()).max() > 0.12 * (1 if frame.format.name.startswith("flt") else 32768):
                # The first ones come from a graph that has just begun.
                if now - quiet > 0.15 and now - begin > 2:
                    times.append(now)
                quiet = now
        if len(times) >= count:
            return times
    return times
