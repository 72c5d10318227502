"""A session's stream in each of its forms: recorded for a while, then decoded."""

import struct
import subprocess
import threading
import time

import av
import numpy

from scene import Failure
from stage import RATE
from websocket import CONFIGURATION, HEAD, PICTURE, SOUND, TEXT, WebSocket


class Download:
    """A stream over HTTP, such as ``stream.ts``."""

    def __init__(self, stage, path, seconds):
        self._file = stage.directory / f"recorded-{time.monotonic_ns()}-{path.replace('.', '-')}"
        words = ["curl", "--silent", "--output", self._file, "--max-time", str(seconds), stage.address(path)]
        self._process = subprocess.Popen(words)

    def wait(self):
        self._process.wait()

    def pictures(self):
        """Yields each picture's time in s, and its brightness by rows."""
        with av.open(str(self._file)) as file:
            for frame in file.decode(video=0):
                yield frame.time, luma(frame)

    def sound(self):
        """The samples of one channel, and the time of the first one in s. Holes are zeros."""
        with av.open(str(self._file)) as file:
            return placed((frame.time, frame.to_ndarray()[0]) for frame in file.decode(audio=0))


class SourceBuffer(Download):
    """What the web page appends to a source buffer of media source extensions."""

    def __init__(self, stage, seconds):
        self._file = stage.directory / f"recorded-{time.monotonic_ns()}-source-buffer"
        self._watch = Watch(stage, seconds, "ws?container=mp4&audio=true")

    def wait(self):
        self._watch.wait()
        with open(self._file, "wb") as file:
            for data in self._watch.taken:
                head = 14 + struct.unpack(">H", data[12:14])[0] if data[0] == CONFIGURATION else HEAD[data[0]]
                file.write(data[head:])


class Watch:
    """Annex B and Opus over a WebSocket."""

    def __init__(self, stage, seconds, path="ws"):
        self.taken, self._failure = [], None
        self._thread = threading.Thread(target=self._take, args=(Listener(stage, path), seconds))
        self._thread.start()

    def _take(self, listener, seconds):
        deadline = time.monotonic() + seconds
        try:
            for data in listener.messages():
                if data[0] in (CONFIGURATION, PICTURE, SOUND):
                    self.taken.append(data)
                if time.monotonic() > deadline:
                    break
        except (Failure, OSError) as failure:
            self._failure = failure
        listener.close()

    def wait(self):
        self._thread.join()
        if self._failure:
            raise Failure(f"the WebSocket ended early: {self._failure}")

    def pictures(self):
        """Yields each picture's time in s, and its brightness by rows."""
        decoder = av.CodecContext.create("h264", "r")
        for pts, data in [*self._units(PICTURE), (None, None)]:
            packet = av.Packet(data) if data else None
            if packet:
                packet.pts = pts
            for frame in decoder.decode(packet):
                yield frame.pts / 1e6, luma(frame)

    def sound(self):
        """The samples of one channel, and the time of the first one in s. Holes are zeros."""
        decoder = av.CodecContext.create("libopus", "r")
        decoder.sample_rate, decoder.layout, decoder.format = RATE, "stereo", "flt"
        # The PTS are those of the decoded sound.
        return placed(
            (pts / 1e6, plain(frame)) for pts, data in self._units(SOUND) for frame in decoder.decode(av.Packet(data))
        )

    def _units(self, kind):
        return ((struct.unpack(">q", data[4:12])[0], data[HEAD[kind] :]) for data in self.taken if data[0] == kind)


#: How a stream of the session ``sound`` is recorded for some seconds, by what people call it.
FORMS = {
    "MPEG-TS": lambda stage, seconds: Download(stage, "stream.ts", seconds),
    "MP4": lambda stage, seconds: Download(stage, "stream.mp4", seconds),
    "WebSocket": Watch,
    "MSE": SourceBuffer,
}


class Listener(WebSocket):
    """A session's WebSocket, with sound."""

    def __init__(self, stage, path="ws"):
        super().__init__(stage.address(path), stage.caller.key)
        self.send(TEXT, b'{"type":"audio","on":true}')

    def packets(self):
        """Yields each packet of sound as it comes."""
        for data in self.messages():
            if data[0] == SOUND:
                yield data[HEAD[SOUND] :]


def luma(frame):
    return numpy.frombuffer(frame.planes[0], dtype=numpy.uint8).reshape(frame.height, -1)[:, : frame.width]


def plain(frame):
    """The samples of one channel of a frame whose channels alternate, from -1 to 1."""
    samples = frame.to_ndarray().reshape(-1)[:: len(frame.layout.channels)]
    return samples / 32768 if samples.dtype == numpy.int16 else samples


def placed(parts):
    """Samples in one row, from pairs of a time in s and samples; and the time of the first one."""
    parts, start = list(parts), None
    if not parts:
        raise Failure("the stream has no sound")
    start = parts[0][0]
    places = [round((time_ - start) * RATE) for time_, _ in parts]
    samples = numpy.zeros(max(place + len(part) for place, (_, part) in zip(places, parts)), dtype=numpy.float32)
    for place, (_, part) in zip(places, parts):
        samples[place : place + len(part)] = part
    return samples, start
