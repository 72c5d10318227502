"""A bitrate that follows its viewers, over a network that becomes narrow and wide again."""

import base64
import pathlib
import tempfile
import time

import av
import numpy

from scene import Failure, percentile
from speed import Farm, Network

#: The rates of the network in Mbit/s, and how long each lasts, in s.
PHASES = [(20, 10), (2, 20), (20, 15)]
#: The session's bitrate and its pictures per second; those of the sessions beside it.
MOST, FPS, NARROW, WHOLE = 6_000_000, 30, 2_000_000, 100_000_000
#: What is captured: at its best, it takes 6 Mbit/s.
SOURCE = "{kind: test-pattern, width: 1920, height: 1080, fps: 30}"
#: The goals: when the latency is good again, in s, how good, in ms; how far the pictures are from those of a session
#: that was started for the narrow network, in dB; and when the bitrate is up again, in s.
AGAIN, LATENCY, FAR, UP = 3, 300, 1.0, 10
#: A repeat, in a picture's flags.
REPEAT = 2


def prove_adapt(programs, congestion, delay=0, loss=0):
    """One viewer, with one of Linux's congestion controls at the relay.

    :param delay: How long a packet takes each way, in ms.
    :param loss: How many of a thousand packets to the viewer are lost.
    """
    programs = pathlib.Path(programs)
    with Network(delay, loss) as network, tempfile.TemporaryDirectory(prefix="heliograph-") as folder:
        folder = pathlib.Path(folder)
        network.control(congestion)
        network.limit(PHASES[0][0])
        with Farm(network, programs, folder, SOURCE) as farm:
            seconds = sum(length for _, length in PHASES)
            farm.begin()
            farm.start("follows", fps=FPS, bitrate=MOST, adapt="followSlowest")
            farm.start("narrow", fps=FPS, bitrate=NARROW)
            farm.start("whole", fps=FPS, bitrate=WHOLE)
            viewer = farm.watch(network.client, "follows", seconds)
            beside = [farm.watch(network.relay, name, seconds) for name in ("narrow", "whole")]
            begins = []
            for rate, length in PHASES:
                network.limit(rate)
                begins.append(time.monotonic_ns())
                time.sleep(length)
            followed, narrow, whole = (finish() for finish in (viewer, *beside))
    way = f", {delay} ms each way, {loss} of 1000 packets lost" if delay or loss else ""
    report(f"{congestion}{way}", followed, narrow, whole, begins)


def report(name, followed, narrow, whole, begins):
    pictures = [line for line in followed if "data" in line]
    fresh = [line for line in pictures if not line["flags"] & REPEAT]
    targets = [(line["came"], line["event"]["bitrate"]) for line in followed if line.get("event", {}).get("type") == "target"]

    def latency(begin, end):
        times = [(line["came"] - line["captured"]) / 1e6 for line in fresh if begin <= line["came"] < end]
        return percentile(times, 0.95) if times else float("inf")

    def carried(begin, end):
        size = sum(len(line["data"]) * 3 / 4 for line in pictures if begin <= line["came"] < end)
        return size * 8e3 / (end - begin)

    second = 1_000_000_000
    wide, narrowed, widened = begins
    before = latency(wide + 2 * second, narrowed)
    after = latency(narrowed + AGAIN * second, widened)
    worst = max(latency(at, at + second) for at in range(narrowed, narrowed + AGAIN * second, second))
    ups = [came - widened for came, bitrate in targets if came > widened and bitrate >= MOST * 0.9]
    lowest = min([bitrate for came, bitrate in targets if came > narrowed], default=MOST)
    up = min(ups, default=float("inf")) / 1e9
    settled = (narrowed + 5 * second, widened)
    streams = {name_: luma(lines, *settled) for name_, lines in (("follows", followed), ("narrow", narrow))}
    sharp = sharpness(streams, luma(whole, *settled))
    print(
        f"adapt, {name}: {carried(wide, narrowed):.1f} Mbit/s with a latency of p95 {before:.0f} ms at "
        f"{PHASES[0][0]} Mbit/s; at {PHASES[1][0]} in the first {AGAIN} s at "
        f"worst {worst:.0f}, then {after:.0f} ms (goal: {LATENCY}); {len(fresh)} pictures, the least bitrate "
        f"{lowest / 1e6:.2f} Mbit/s, up again after {up:.1f} s (goal: {UP}); {sharp['follows']:.2f} dB beside "
        f"{sharp['narrow']:.2f} of a session of {NARROW / 1e6:g} Mbit/s (goal: at most {FAR} less)",
        flush=True,
    )
    missed = [
        what
        for what, fails in (
            ("the latency", after > LATENCY),
            ("the way up", up > UP),
            ("the picture", sharp["narrow"] - sharp["follows"] > FAR),
        )
        if fails
    ]
    if missed:
        raise Failure(f"{name}: {', '.join(missed)}")


def luma(lines, begin, end):
    """The brightness of each new picture that was captured in a time, by when that was."""
    decoder, found, captured = av.CodecContext.create("h264", "r"), {}, {}
    for number, line in enumerate(line for line in lines if "data" in line):
        packet = av.Packet(base64.b64decode(line["data"]))
        packet.pts, captured[number] = number, line["captured"]
        try:
            frames = decoder.decode(packet)
        except av.error.InvalidDataError:
            continue
        for frame in frames:
            at = captured.get(frame.pts)
            if at is not None and begin <= at < end and at not in found:
                plane = numpy.frombuffer(frame.planes[0], dtype=numpy.uint8)
                found[at] = plane.reshape(frame.height, -1)[:, : frame.width].copy()
    return found


def sharpness(streams, truth):
    """The mean signal-to-noise ratio of each stream's pictures, in dB.

    Those that all streams have are compared, because some are harder to encode than others.
    """
    common = set(truth).intersection(*streams.values())
    if len(common) < 100:
        raise Failure(f"only {len(common)} pictures to compare")
    ratios = {name: [] for name in streams}
    for name, pictures in streams.items():
        for at in common:
            if pictures[at].shape != truth[at].shape:
                raise Failure(f"a picture of {pictures[at].shape[1]} columns")
            error = ((pictures[at].astype(numpy.float32) - truth[at]) ** 2).mean()
            ratios[name].append(10 * numpy.log10(255**2 / max(error, 1e-3)))
    return {name: float(numpy.mean(values)) for name, values in ratios.items()}
