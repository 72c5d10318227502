"""A tone in a device's sound."""

import array
import math
import subprocess
import sys
import typing

#: Samples per second after ffmpeg. Tones are below half of it.
RATE = 16_000
#: How long the stream may take to begin, s.
PATIENCE = 10.0

if typing.TYPE_CHECKING:
    from . import Session


def listen(session: "Session", seconds: float) -> typing.Sequence[int]:
    """Returns the samples of one channel, 16 bits, that are heard within ``seconds``."""
    words = ["ffmpeg", "-v", "error", "-i", "pipe:0", "-map", "0:a:0", "-t", str(seconds)]
    words += ["-ac", "1", "-ar", str(RATE), "-f", "s16le", "pipe:1"]
    with session.relay.open("GET", session.path + "/stream.mp4", timeout=seconds + PATIENCE) as stream:
        decoder = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert decoder.stdin and decoder.stdout
        try:
            while decoder.poll() is None:
                decoder.stdin.write(stream.read(4096))
                decoder.stdin.flush()
        except BrokenPipeError:
            # It has heard enough.
            pass
        data, _ = decoder.communicate()
    samples = array.array("h", data[: len(data) // 2 * 2])
    if sys.byteorder == "big":
        samples.byteswap()
    return samples


def share(samples: typing.Sequence[int], frequency: float) -> float:
    """The share of the samples' power that is at ``frequency`` (Goertzel's algorithm, with a Hann window)."""
    count = len(samples)
    coefficient = 2 * math.cos(2 * math.pi * frequency / RATE)
    energy = before = last = 0.0
    for index, sample in enumerate(samples):
        weight = 0.5 - 0.5 * math.cos(2 * math.pi * index / count)
        value = sample * weight
        energy += value * value
        before, last = last, value + coefficient * last - before
    if energy == 0:
        return 0.0
    power = before * before + last * last - coefficient * before * last
    # The window's weights add up to count/2, and their squares to 3/8 of count. So a tone of amplitude a has a power of
    # (a/2 * count/2)^2 and an energy of a^2/2 * 3/8 * count.
    return min(1.0, 3 * power / (count * energy))
