// Access units to pictures on a canvas, by WebCodecs.

/** Whether this browser can play that at all, in words; null when it can. */
export function obstacle(codec) {
  if (typeof VideoDecoder === "function") return null;
  const name = codec === "h265" ? "H.265" : "H.264";
  if (!isSecureContext) {
    return "Browsers decode video only on pages from localhost or over https. Open this page at localhost, for example through an SSH tunnel.";
  }
  return `This browser cannot decode ${name} here: it has no WebCodecs. Use Chrome, Edge, Firefox 130 or Safari 16.4, or newer; or watch the raw stream with a player, see below.`;
}

/** Events: `presented` {picture, at}, `trouble` {text}, `starved` when only a keyframe helps. */
export class Decoder extends EventTarget {
  // More than these waiting: the page has fallen behind, and goes on at a keyframe.
  static longestQueue = 20;

  constructor(canvas, { keyframesOnly = false } = {}) {
    super();
    Object.assign(this, { canvas, keyframesOnly, waiting: new Map(), needsKey: true, errors: 0, skipped: 0 });
    this.context = canvas.getContext("2d", { alpha: false, desynchronized: true });
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
    this.decoder = new VideoDecoder({ output: (frame) => this.output(frame), error: (error) => this.failed(error) });
    this.decoder.configure(configuration);
    const { supported } = await VideoDecoder.isConfigSupported(configuration).catch(() => ({ supported: false }));
    if (supported) return;
    this.unsupported = codec;
    this.close();
    const name = codec.startsWith("avc") ? "H.264" : "H.265";
    this.tell("trouble", { text: `This browser cannot decode ${name} (${codec}). Start a session with another codec, or use another browser.` });
  }

  decode(picture) {
    if (this.decoder?.state !== "configured") return;
    if (!picture.key && (this.needsKey || this.keyframesOnly)) {
      if (!this.keyframesOnly) this.skipped += 1;
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
    this.draw(frame, picture?.orientation ?? 0);
    frame.close();
    if (picture) this.tell("presented", { picture, at: performance.now() });
  }

  draw(frame, orientation) {
    const { canvas, context } = this;
    const [width, height] = [frame.displayWidth, frame.displayHeight];
    const isTurned = orientation % 2 === 1;
    const [across, down] = isTurned ? [height, width] : [width, height];
    if (canvas.width !== across || canvas.height !== down) Object.assign(canvas, { width: across, height: down });
    if (orientation === 0) return context.drawImage(frame, 0, 0);
    context.setTransform(1, 0, 0, 1, across / 2, down / 2);
    context.rotate((orientation * Math.PI) / 2);
    context.drawImage(frame, -width / 2, -height / 2);
    context.resetTransform();
  }

  failed(error) {
    this.decoder = null;
    this.waiting.clear();
    // What `configure` finds out as well, and says.
    if (error.name === "NotSupportedError") return;
    this.errors += 1;
    this.tell("trouble", { text: `The browser's decoder failed: ${error.message} Going on at the next keyframe.` });
    const codec = this.codec;
    this.codec = null;
    // A decoder that fails at once is not tried again at once.
    this.retry = setTimeout(() => this.configure({ codec }).then(() => this.tell("starved")), 500);
  }

  close() {
    clearTimeout(this.retry);
    if (this.decoder && this.decoder.state !== "closed") this.decoder.close();
    this.decoder = null;
    this.waiting.clear();
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
