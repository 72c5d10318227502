// Packets of Opus to the loudspeaker, by WebCodecs and an AudioWorklet.

import { Skew } from "./skew.js";

/** What the relay's sound is, and what the jitter buffer plays. */
const configuration = { codec: "opus", sampleRate: 48_000, numberOfChannels: 2 };
/** If more packets wait for the decoder, the page has fallen behind. */
const longestQueue = 100;
/** How long the browser may take to begin, ms. */
const startTime = 2000;
/**
 * From the clock that plays to the ear in Firefox on Linux, s. It is what Firefox says on PipeWire. Asking could block
 * the page forever: the answer waits for the thread that plays, and that thread can wait for the page.
 */
const firefoxLatency = 0.04;
/** Whether the browser must not be asked for its `outputLatency`. */
const isFirefoxOnLinux = /\bLinux\b.*\bFirefox\//.test(globalThis.navigator?.userAgent);

/** Whether this browser has what it takes. */
export const hasSoundOutput = () =>
  typeof AudioDecoder === "function" && typeof AudioWorkletNode === "function" && typeof AudioContext === "function";

/**
 * Plays packets in step with the pictures. Create it in a handler of a click, because browsers allow sound only there.
 *
 * Events: `report`, ten times a second while sound is played: `figures` and `level` are new; `failed` {text}.
 */
export class SoundOutput extends EventTarget {
  /** @param {number} volume 0 to 1. */
  constructor(volume) {
    super();
    this.skew = new Skew();
    /** Packets that the decoder has not returned yet. */
    this.waiting = [];
    this.errors = 0;
    this.skipped = 0;
    /** The last report of the worklet. */
    this.last = { delay: 0, holes: 0, dropped: 0, level: 0 };
    this.context = new AudioContext({ sampleRate: configuration.sampleRate, latencyHint: "interactive" });
    this.amplifier = new GainNode(this.context, { gain: volume });
    this.amplifier.connect(this.context.destination);
    /** Fulfilled once sound can be heard; rejected with the reason if it cannot. @type {Promise<void>} */
    this.ready = this.open(this.context.resume());
  }

  async open(resumed) {
    // Closing it ends the wait with an error.
    resumed.catch(() => {});
    // A browser that wants a click first does not answer.
    const deadline = new Promise((done) => setTimeout(done, startTime));
    const module = new URL("./sound-worklet.js", import.meta.url);
    const [{ supported }] = await Promise.all([AudioDecoder.isConfigSupported(configuration), this.context.audioWorklet.addModule(module)]);
    if (this.isClosed) return;
    if (!supported) throw new Error("This browser cannot decode Opus.");
    this.node = new AudioWorkletNode(this.context, "heliograph-sound", { numberOfInputs: 0, outputChannelCount: [2] });
    this.node.port.onmessage = ({ data }) => this.reported(data);
    this.node.onprocessorerror = () => this.tell("failed", { text: "The browser's player of sound failed." });
    this.node.connect(this.amplifier);
    await Promise.race([resumed, deadline]);
    if (!this.isClosed && this.context.state !== "running") throw new Error("The browser does not let this page play sound.");
  }

  setVolume(volume) {
    // At once it would click.
    this.amplifier.gain.setTargetAtTime(volume, this.context.currentTime, 0.01);
  }

  get figures() {
    const { delay, holes, dropped } = this.last;
    return { skew: this.skew.value, delay: delay * 1000, holes, dropped: dropped + this.skipped, errors: this.errors };
  }

  /** When sound is heard, minus its PTS, in ms of `performance.now()`; `undefined` until known. */
  get lateness() {
    return this.skew.sound;
  }

  /** Notes that a picture was decoded, and could be presented. */
  pictureDecoded(pts, at) {
    this.skew.decoded(pts, at);
  }

  /** Notes that a picture was presented. */
  pictured(pts, at) {
    this.skew.pictured(pts, at);
  }

  /** Forgets what came, because the time begins anew. */
  reset() {
    this.skew.reset();
    this.closeDecoder();
    this.node?.port.postMessage({ type: "reset" });
  }

  close() {
    this.isClosed = true;
    this.closeDecoder();
    this.node?.port.postMessage({ type: "end" });
    this.node?.disconnect();
    this.context.close().catch(() => {});
  }

  // Decoding

  /** @param {import("./messages.js").Sound} packet */
  take(packet) {
    // Before that, nothing could be heard.
    if (this.isClosed || !this.node) return;
    if (this.decoder?.state !== "configured") this.openDecoder();
    if (this.decoder.decodeQueueSize > longestQueue) return void (this.skipped += 1);
    this.waiting.push(packet);
    this.decoder.decode(new EncodedAudioChunk({ type: "key", timestamp: packet.pts, data: packet.data }));
  }

  openDecoder() {
    this.closeDecoder();
    const decoder = new AudioDecoder({
      output: (data) => (decoder === this.decoder ? this.decoded(data) : data.close()),
      // The next packet opens another one.
      error: () => (this.errors += 1),
    });
    decoder.configure(configuration);
    this.decoder = decoder;
  }

  closeDecoder() {
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
    this.decoder = undefined;
    this.waiting = [];
  }

  decoded(data) {
    // Each packet becomes one piece of sound. Not every browser keeps its timestamp after a gap, so their order counts.
    const place = this.waiting.findIndex(({ pts }) => Math.abs(pts - data.timestamp) <= 1);
    const packet = this.waiting.splice(0, Math.max(0, place) + 1).at(-1);
    const { numberOfFrames, numberOfChannels } = data;
    const [left, right] = [0, 1].map((channel) => {
      const samples = new Float32Array(numberOfFrames);
      data.copyTo(samples, { planeIndex: Math.min(channel, numberOfChannels - 1), format: "f32-planar" });
      return samples;
    });
    data.close();
    if (!packet) return;
    const { pts, silence, gap } = packet;
    this.node.port.postMessage({ type: "sound", pts, silence, gap, left, right }, [left.buffer, right.buffer]);
  }

  // Playing

  reported(report) {
    if (this.isClosed) return;
    this.last = report;
    this.skew.heard(report, this.context.currentTime, this.latency, performance.now());
    this.node.port.postMessage({ type: "pictures", offset: this.skew.offset });
    this.tell("report");
  }

  /** From the clock that plays to the ear, s. Not every browser knows all of it. */
  get latency() {
    const { context } = this;
    return (context.baseLatency || 0) + (isFirefoxOnLinux ? firefoxLatency : context.outputLatency || 0);
  }

  /** The root mean square of what was played last, before the volume, 0 to 1. */
  get level() {
    return this.last.level;
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
