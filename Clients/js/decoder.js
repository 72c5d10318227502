// Access units to pictures on a canvas, by WebCodecs.

import { Hold } from "./hold.js";
import { paint } from "./paint.js";

/**
 * Decodes pictures and draws each when it is decoded, or when its sound is heard: `hold`.
 *
 * Events: `decoded` and `presented` {picture, at}; `trouble` {text, isUnsupported: whether the browser can never play
 * this}; `starved`: only a keyframe helps.
 */
export class Decoder extends EventTarget {
  /** If more pictures wait, the page has fallen behind, and continues at a keyframe. */
  static longestQueue = 20;

  constructor(canvas) {
    super();
    Object.assign(this, { canvas, waiting: new Map(), needsKey: true, errors: 0, skipped: 0, openings: 0 });
    this.hold = new Hold((entry) => this.draw(entry));
  }

  isUnsupported(codec) {
    return this.unsupported === codec;
  }

  async configure({ codec }) {
    if (this.isUnsupported(codec) || (this.codec === codec && this.decoder?.state === "configured")) return;
    const configuration = { codec, optimizeForLatency: true };
    this.codec = codec;
    this.close();
    this.needsKey = true;
    const opening = (this.openings += 1);
    this.decoder = new VideoDecoder({ output: (frame) => this.output(frame), error: (error) => this.failed(error) });
    this.decoder.configure(configuration);
    const { supported } = await VideoDecoder.isConfigSupported(configuration).catch(() => ({ supported: false }));
    // Meanwhile it may have been closed, or opened for another codec.
    if (supported || opening !== this.openings) return;
    this.unsupported = codec;
    this.close();
    const name = codec.startsWith("avc") ? "H.264" : "H.265";
    const text = `This browser cannot decode ${name} (${codec}). Start a session with another codec, or use another browser.`;
    this.tell("trouble", { text, isUnsupported: true });
  }

  decode(picture) {
    if (this.decoder?.state !== "configured") return;
    if (!picture.key && this.needsKey) {
      this.skipped += 1;
      return;
    }
    if (this.decoder.decodeQueueSize > Decoder.longestQueue && !picture.key) {
      this.skipped += 1;
      this.needsKey = true;
      return this.tell("starved");
    }
    this.needsKey = false;
    this.waiting.set(picture.pts, picture);
    this.decoder.decode(new EncodedVideoChunk({ type: picture.key ? "key" : "delta", timestamp: picture.pts, data: picture.data }));
  }

  output(frame) {
    const picture = this.waiting.get(frame.timestamp);
    for (const pts of this.waiting.keys()) if (pts <= frame.timestamp) this.waiting.delete(pts);
    if (picture) this.tell("decoded", { picture, at: performance.now() });
    this.hold.add({ pts: frame.timestamp, frame, picture });
  }

  draw({ frame, picture }) {
    paint(this.canvas, frame, frame.displayWidth, frame.displayHeight, picture?.orientation ?? 0);
    frame.close();
    if (picture) this.tell("presented", { picture, at: performance.now() });
  }

  failed(error) {
    this.decoder = null;
    this.waiting.clear();
    // `configure` finds that out as well, and says so.
    if (error.name === "NotSupportedError") return;
    this.errors += 1;
    this.tell("trouble", { text: `The browser's decoder failed: ${error.message} Continuing at the next keyframe.` });
    const codec = this.codec;
    this.codec = null;
    // A decoder that fails at once would fail again at once.
    this.retry = setTimeout(() => this.configure({ codec }).then(() => this.tell("starved")), 500);
  }

  close() {
    this.openings += 1;
    clearTimeout(this.retry);
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
    this.decoder = null;
    this.waiting.clear();
    this.hold.clear();
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
