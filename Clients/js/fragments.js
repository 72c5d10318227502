// Fragments of MP4 to pictures on a canvas, by Media Source Extensions: for browsers without WebCodecs.

import { paint } from "./paint.js";

const Source = globalThis.MediaSource ?? globalThis.ManagedMediaSource;
/** Firefox chooses the picture that it draws in its own way, and no property tells. */
const isFirefox = /\bFirefox\//.test(globalThis.navigator?.userAgent);

/** If it is further behind the newest picture, s, it jumps instead of catching up. */
const longestLag = 1;
/** How long played pictures are kept, s. Those since the last keyframe are kept longer. */
const longestPast = 10;
/** Pictures whose stamps are kept while nothing is presented. */
const longestQueue = 600;
/**
 * Offsets of a fragment's decode time, 8 bytes, and duration, 4 bytes. Those of pictures are in µs, those of sound in
 * samples. docs/reference/formats.md
 */
const [timeOffset, durationOffset] = [60, 88];
/** Samples of sound per µs. */
const soundRate = 0.048;
/** How much faster or slower it plays at most, and with sound, which would change audibly. */
const [mostHaste, mostHasteWithSound] = [0.1, 0.03];

const mediaType = (codec, hasSound) => `video/mp4; codecs="${codec}${hasSound ? ", opus" : ""}"`;

/** Returns whether this browser says that it plays the codec, with Opus if `hasSound`. */
export function playsFragments(codec, hasSound = false) {
  return Source?.isTypeSupported(mediaType(codec, hasSound)) === true;
}

/**
 * Plays pictures whose `data` is a fragment of MP4. Its events and figures are those of `Decoder`.
 *
 * The timeline is this player's own, in µs from the first picture. After a gap of more than two durations a browser
 * would wait for a keyframe, so longer gaps are played as two durations. With sound they keep their length, because
 * sound goes on meanwhile, and the player itself waits for a keyframe.
 *
 * With sound there is another event: `silenced`, after the browser has refused to be heard.
 */
export class FragmentPlayer extends EventTarget {
  constructor(canvas) {
    super();
    Object.assign(this, { canvas, waiting: new Map(), chunks: [], keys: [], needsKey: true, errors: 0, skipped: 0 });
    Object.assign(this, { hasSound: false, isHeard: false, volume: 1 });
  }

  /** Whether this browser plays sound besides pictures of this codec. */
  get canHear() {
    return playsFragments(this.codec ?? "avc3.42C01F", true);
  }

  get isMuted() {
    return !this.isHeard || !this.hasSound;
  }

  /** Makes the sound heard, or mutes it. @param {number} volume 0 to 1. */
  hear(isHeard, volume) {
    Object.assign(this, { isHeard, volume });
    if (this.video) Object.assign(this.video, { muted: this.isMuted, volume });
  }

  /**
   * Takes the initialization segment, `preamble`, of the pictures that follow.
   *
   * @param {import("./messages.js").Configuration} configuration
   * @param {boolean} [hasSound] Whether it has a track of sound, too.
   */
  configure({ codec, preamble }, hasSound = false) {
    if (!playsFragments(codec, hasSound)) {
      this.close();
      return this.tell("trouble", { text: `This browser cannot play ${codec} in MP4.`, isUnsupported: true });
    }
    // A buffer keeps the tracks that it began with.
    if (this.video && this.hasSound !== hasSound) this.close();
    Object.assign(this, { codec, hasSound });
    this.initialization = { type: mediaType(codec, hasSound), preamble };
    if (!this.video) return this.open();
    this.chunks.push(this.initialization);
    this.pump();
  }

  decode(picture) {
    if (!this.video) return;
    if (!picture.key && this.needsKey) {
      this.skipped += 1;
      return;
    }
    const { data, pts } = picture;
    if (!picture.key && this.hasSound && pts - this.lastPTS > 2 * this.duration) {
      this.skipped += 1;
      this.needsKey = true;
      return this.tell("starved");
    }
    this.needsKey = false;
    if (this.lastPTS === undefined) [this.time, this.origin] = [0, pts];
    else this.time += this.hasSound ? pts - this.lastPTS : Math.min(pts - this.lastPTS, 2 * this.duration);
    this.lastPTS = pts;
    this.duration = new DataView(data.buffer, data.byteOffset).getUint32(durationOffset);
    if (picture.key) this.keys.push(this.time);
    this.waiting.set(this.time, picture);
    if (this.waiting.size > longestQueue) this.waiting.delete(this.waiting.keys().next().value);
    this.chunks.push({ fragment: data, time: this.time });
    this.pump();
  }

  /** Takes a packet of sound. @param {import("./messages.js").Sound} packet */
  take({ data }) {
    // Before the first picture there is no time.
    if (!this.video || !this.hasSound || this.lastPTS === undefined) return;
    const samples = Number(new DataView(data.buffer, data.byteOffset).getBigUint64(timeOffset));
    const time = samples - Math.round(this.origin * soundRate);
    if (time < 0) return;
    this.chunks.push({ fragment: data, time });
    this.pump();
  }

  // The browser's side

  open() {
    const [source, video] = [new Source(), document.createElement("video")];
    Object.assign(this, { source, video, chunks: [this.initialization], keys: [], needsKey: true, lastPTS: undefined });
    // If it is heard, a click is needed to start. A managed source requires that it is not played remotely.
    Object.assign(video, { muted: this.isMuted, volume: this.volume, playsInline: true, disableRemotePlayback: true });
    video.addEventListener("error", () => this.failed(video, video.error?.message));
    source.addEventListener("sourceopen", () => this.opened(source), { once: true });
    video.src = URL.createObjectURL(source);
    this.awaitFrame(video);
    if (isFirefox) this.keepRedrawing(video);
  }

  opened(source) {
    if (source !== this.source) return;
    URL.revokeObjectURL(this.video.src);
    this.buffer = source.addSourceBuffer(this.initialization.type);
    this.type = this.initialization.type;
    this.buffer.addEventListener("updateend", () => source === this.source && this.pump());
    this.pump();
  }

  /** Gives the buffer what waits, one chunk at a time. */
  pump() {
    const { buffer, source, video } = this;
    if (!buffer || buffer.updating || source.readyState !== "open") return;
    this.keepUp();
    try {
      const past = this.past();
      if (past !== undefined) buffer.remove(0, past);
      else if (this.chunks.length > 0) buffer.appendBuffer(this.nextChunk());
    } catch (error) {
      this.failed(video, error.message);
    }
  }

  /** Returns an initialization segment, or all fragments up to the next one. */
  nextChunk() {
    const first = this.chunks[0];
    if (first.preamble) {
      this.chunks.shift();
      if (first.type !== this.type) this.buffer.changeType(first.type);
      this.type = first.type;
      return first.preamble;
    }
    const end = this.chunks.findIndex((chunk) => chunk.preamble);
    const chunks = this.chunks.splice(0, end < 0 ? this.chunks.length : end);
    const bytes = new Uint8Array(chunks.reduce((sum, { fragment }) => sum + fragment.length, 0));
    const view = new DataView(bytes.buffer);
    let place = 0;
    for (const { fragment, time } of chunks) {
      bytes.set(fragment, place);
      view.setBigUint64(place + timeOffset, BigInt(time));
      place += fragment.length;
    }
    return bytes;
  }

  /** Returns the keyframe, s, before which everything may be forgotten; `undefined` if it is too early to forget. */
  past() {
    const { video, buffer, keys } = this;
    if (buffer.buffered.length === 0 || video.currentTime - buffer.buffered.start(0) < longestPast) return undefined;
    while (keys.length > 1 && keys[1] / 1e6 <= video.currentTime) keys.shift();
    return keys.length > 0 && keys[0] / 1e6 > buffer.buffered.start(0) + longestPast / 2 ? keys[0] / 1e6 : undefined;
  }

  /** Keeps close to the newest picture: a little faster or slower, or by a jump. */
  keepUp() {
    const { video, buffer } = this;
    const { buffered } = buffer;
    if (buffered.length === 0 || video.readyState === 0 || video.seeking) return;
    const [start, end] = [buffered.start(buffered.length - 1), buffered.end(buffered.length - 1)];
    // One picture is shown, and the next one is there in time even if it comes late.
    const wanted = (1.5 * this.duration) / 1e6 + 0.05;
    const lag = end - video.currentTime;
    if (lag > Math.max(longestLag, 2 * wanted) || video.currentTime < start) {
      video.currentTime = Math.max(start, end - wanted);
    } else {
      const haste = this.isMuted ? mostHaste : mostHasteWithSound;
      const rate = Math.abs(lag - wanted) < 0.03 ? 1 : Math.min(1 + haste, Math.max(1 - haste, 1 + (lag - wanted) / 2));
      if (Math.abs(video.playbackRate - rate) > 0.005) video.playbackRate = rate;
    }
    if (video.paused) video.play().catch((error) => this.refused(video, error));
  }

  /** The browser did not begin to play. */
  refused(video, error) {
    if (video !== this.video || error.name === "AbortError") return;
    if (error.name !== "NotAllowedError" || video.muted) return this.tell("trouble", { text: `The browser does not play: ${error.message}` });
    // Muted, it may play.
    this.hear(false, this.volume);
    this.tell("silenced");
  }

  awaitFrame(video) {
    if (video.requestVideoFrameCallback) {
      video.requestVideoFrameCallback((_, metadata) => this.announced(video, metadata));
    } else {
      requestAnimationFrame(() => this.redrawn(video));
    }
  }

  /** The browser says that there is another picture. */
  announced(video, { mediaTime, width, height, presentationTime, expectedDisplayTime }) {
    if (video !== this.video) return;
    this.awaitFrame(video);
    const draw = () => this.frame(video, mediaTime, width, height);
    // In Firefox, `drawImage` draws the picture before until this one is due: at the next redraw. The first callback
    // still belongs to this redraw.
    if (isFirefox && expectedDisplayTime > presentationTime) requestAnimationFrame(() => requestAnimationFrame(draw));
    else draw();
  }

  /** The page is redrawn, and the browser does not say when there is another picture. */
  redrawn(video) {
    if (video !== this.video) return;
    this.awaitFrame(video);
    this.frame(video, video.currentTime, video.videoWidth, video.videoHeight);
  }

  /** Lets the page be redrawn all the time. Otherwise Firefox looks for the next picture only every 40 ms. */
  keepRedrawing(video) {
    if (video === this.video) requestAnimationFrame(() => this.keepRedrawing(video));
  }

  frame(video, time, width, height) {
    if (video !== this.video) return;
    // The newest picture that is due; times are rounded to µs on their way.
    let picture;
    for (const [due, candidate] of this.waiting) {
      if (due > time * 1e6 + 500) break;
      picture = candidate;
      this.waiting.delete(due);
    }
    if (!picture || width === 0) return;
    paint(this.canvas, video, width, height, picture.orientation);
    this.tell("presented", { picture, at: performance.now() });
  }

  failed(video, message) {
    if (video !== this.video) return;
    this.errors += 1;
    this.tell("trouble", { text: `The browser's player failed: ${message || "it does not say why."} Continuing at the next keyframe.` });
    this.close();
    // A player that fails at once would fail again at once.
    this.retry = setTimeout(() => {
      this.open();
      this.tell("starved");
    }, 500);
  }

  close() {
    clearTimeout(this.retry);
    const { video } = this;
    Object.assign(this, { video: undefined, source: undefined, buffer: undefined, chunks: [] });
    this.waiting.clear();
    video?.removeAttribute("src");
    video?.load();
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
