// Collects the samples of a microphone into packets. Loaded by `speech.js` as a module of an AudioWorklet.

/** Samples of a packet: 20 ms at 48 kHz. */
const size = 960;

class SpeechProcessor extends AudioWorkletProcessor {
  constructor() {
    super();
    this.begin();
  }

  begin() {
    this.samples = new Float32Array(size);
    this.count = 0;
  }

  process([[channel]]) {
    for (const sample of channel ?? []) {
      this.samples[this.count] = sample;
      this.count += 1;
      if (this.count < size) continue;
      this.port.postMessage(this.samples, [this.samples.buffer]);
      this.begin();
    }
    return true;
  }
}

registerProcessor("heliograph-speech", SpeechProcessor);
