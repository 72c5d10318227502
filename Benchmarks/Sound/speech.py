"""Speech to a desktop's microphone: what programs record of it, and how late."""

import os
import subprocess
import threading
import time

import av
import numpy

from scene import DESKTOP, DEVICE, Failure, eventually, percentile
from stage import RATE, Stage, require
from streams import Listener
from websocket import BINARY

#: The microphone's name in PipeWire.
NAME = "heliograph-microphone-default"
#: What is said.
TEXT = "The quick brown fox jumps over the lazy dog. Please read the third line again, and then press the button."
#: The goals: the signal-to-noise ratio in dB, and the median of the delay in ms.
CLEAN, SOON = 20, 80
#: Samples of a packet, and packets from one burst to the next.
PACKET, EVERY = 960, 17
#: The first byte of a message of speech: docs/reference/websocket.md.
SPEECH = bytes([0x20, 0, 0, 0])


def prove_speech(programs, count=100):
    with Stage("none", programs, ["--microphone"], has_keys=True) as stage:
        stage.session("sound", width=320, height=240, fps=5)
        eventually("the microphone", lambda: stage.caller.call("GET", f"{DEVICE}/broadcast").body["microphone"]["available"])
        said, recorded = quality(stage, programs)
        ratio, seconds = signal_to_noise(said, recorded)
        print(f"speech by heliograph talk: {ratio:.1f} dB signal to noise over {seconds:.1f} s; goal: {CLEAN}")
        times, lost = delays(stage, count)
        median = percentile(times, 0.5)
        report = stage.caller.call("GET", f"{DEVICE}/broadcast").body["microphone"]
        print(
            f"speech, from the sample to the program: {len(times)} bursts, {lost} lost, p50 {median:.1f} ms, "
            f"p99 {percentile(times, 0.99):.1f} ms; in the agent {report['delayMs']} ms, holes {report['holes']}; goal: {SOON}"
        )
    busy = os.getloadavg()[0] / (os.cpu_count() or 1) > 0.7
    require(ratio >= CLEAN, f"{ratio:.1f} dB of signal to noise")
    require(busy or median <= SOON, f"the median of the delay is {median:.1f} ms")


def quality(stage, programs):
    """Has the command say a text. Returns the samples of what was said and of what a program has recorded."""
    said, recorded = stage.directory / "run/said.wav", stage.directory / "run/recorded.wav"
    voice = ["-f", "lavfi", "-i", f"flite=text='{TEXT}'", "-ar", str(RATE), "-ac", "1", "-c:a", "pcm_s16le"]
    subprocess.run(["ffmpeg", "-v", "error", "-y", *voice, said], check=True)
    recorder = stage.play("pw-record", "--target", NAME, "--channels", 1, recorded)
    time.sleep(1)
    relay = f"http://127.0.0.1:{stage.ports['http']}"
    environment = {**os.environ, "HELIOGRAPH_RELAY": relay, "HELIOGRAPH_KEY": stage.keys["controller"]}
    subprocess.run([f"{programs}/heliograph", "talk", said, "--session", "sound"], check=True, env=environment)
    time.sleep(0.5)
    recorder.end()
    return samples(said), samples(recorded)


def samples(path):
    with av.open(str(path)) as file:
        return numpy.concatenate([frame.to_ndarray().reshape(-1) for frame in file.decode(audio=0)]).astype(float) / 32768


def signal_to_noise(said, recorded):
    """The ratio in dB after the best alignment and gain, and how many seconds are compared."""
    size = 1 << (len(said) + len(recorded)).bit_length()
    match = numpy.fft.irfft(numpy.fft.rfft(recorded, size) * numpy.conj(numpy.fft.rfft(said, size)), size)
    shift = int(numpy.argmax(match[: len(recorded)]))
    heard = recorded[shift : shift + len(said)]
    said = said[: len(heard)]
    if len(heard) < RATE or not heard.any():
        raise Failure("nothing of the speech was recorded")
    gain = (heard @ said) / (said @ said)
    noise = heard - gain * said
    return 10 * numpy.log10((gain * said) @ (gain * said) / (noise @ noise)), len(said) / RATE


def delays(stage, count):
    """The times from the first sample of a burst to when a program has read it, in ms, and how many were not heard."""
    words = ["pw-record", "--target", NAME, "--channels", "1", "--format", "f32", "--latency", "256", "-"]
    program = subprocess.Popen(
        [str(word) for word in (DESKTOP, "exec", stage.directory, *words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    heard = []
    threading.Thread(target=read_bursts, args=(program.stdout, heard), daemon=True).start()
    time.sleep(1)
    speaker = Speaker(stage)
    try:
        spoken = speaker.speak(count * EVERY)
        time.sleep(0.5)
    finally:
        speaker.close()
        program.terminate()
        program.wait(10)
    # The first ones come while the buffer finds its length.
    heard, spoken = numpy.array(heard), spoken[5:]
    times = [heard[heard > begin][:1] - begin for begin in spoken]
    times = [time_[0] * 1000 for time_ in times if len(time_) and time_[0] < EVERY * PACKET / RATE]
    return times, len(spoken) - len(times)


def read_bursts(stream, heard):
    """Adds the times at which bursts are read, of bare floats."""
    last, rest = 0.0, b""
    while data := os.read(stream.fileno(), 4096):
        now, data = time.monotonic(), rest + data
        whole = len(data) // 4 * 4
        rest = data[whole:]
        if numpy.abs(numpy.frombuffer(data[:whole], dtype=numpy.float32)).max(initial=0) > 0.1:
            if now - last > 0.1:
                heard.append(now)
            last = now


class Speaker(Listener):
    """A viewer that controls the device and speaks."""

    def __init__(self, stage):
        super().__init__(stage)
        self.send(BINARY, bytes([1, 1, 0, 0]))
        threading.Thread(target=self._follow, daemon=True).start()
        time.sleep(0.5)

    def _follow(self):
        try:
            for _ in self.packets():
                pass
        except (Failure, OSError):
            pass

    def speak(self, packets):
        """Says bursts. Returns when the first sample of each was spoken, in s."""
        encoder = av.CodecContext.create("libopus", "w")
        encoder.sample_rate, encoder.layout, encoder.format, encoder.bit_rate = RATE, "mono", "flt", 64_000
        encoder.options = {"application": "audio", "frame_duration": "20"}
        burst = 0.5 * numpy.sin(numpy.arange(PACKET) * 2 * numpy.pi * 1000 / RATE)
        begin, spoken = time.monotonic(), []
        for number in range(packets):
            is_burst = number % EVERY == EVERY - 1
            frame = av.AudioFrame.from_ndarray((burst if is_burst else 0 * burst).astype(numpy.float32).reshape(1, -1), "flt", "mono")
            frame.sample_rate, frame.pts = RATE, number * PACKET
            if is_burst:
                spoken.append(begin + number * PACKET / RATE)
            time.sleep(max(0, begin + (number + 1) * PACKET / RATE - time.monotonic()))
            for packet in encoder.encode(frame):
                self.send(BINARY, SPEECH + bytes(packet))
        return spoken
