// Runs the jitter buffer in the thread that plays sound. Loaded by `sound-output.js` as a module of an AudioWorklet.

import { JitterBuffer } from "./jitter-buffer.js";

/** Samples between two reports: 0.1 s. */
const reportInterval = 4800;

class SoundProcessor extends AudioWorkletProcessor {
  constructor() {
    super();
    this.buffer = new JitterBuffer();
    this.unreported = 0;
    this.port.onmessage = ({ data }) => this.take(data);
  }

  take(message) {
    switch (message.type) {
      case "sound": return this.buffer.add(message, currentTime);
      case "pictures": return this.buffer.inStepWith(message.offset);
      case "reset": return this.buffer.reset();
      case "end": this.hasEnded = true;
    }
  }

  process(_, [[left, right]]) {
    const { buffer } = this;
    const pts = (buffer.place / sampleRate) * 1e6;
    buffer.render(left, right, currentTime);
    this.unreported += left.length;
    if (this.unreported >= reportInterval && buffer.place !== undefined) {
      this.unreported = 0;
      const { holes, dropped, delay } = buffer;
      this.port.postMessage({ pts, time: currentTime, delay, holes, dropped, level: buffer.takeLevel() });
    }
    return !this.hasEnded;
  }
}

registerProcessor("heliograph-sound", SoundProcessor);
