// Fragments of MP4 to pictures on a canvas, by Media Source Extensions: for browsers without WebCodecs.

import { paint } from "./paint.js";

const Source = globalThis.MediaSource ?? globalThis.ManagedMediaSource;

/** If it is further behind the newest picture, s, it jumps instead of catching up. */
const longestLag = 1;
/** How long played pictures are kept, s. Those since the last keyframe are kept longer. */
const longestPast = 10;
/** Pictures whose stamps are kept while nothing is presented. */
const longestQueue = 600;
/** Offsets of a fragment's decode time, 8 bytes, and duration, 4 bytes; both in µs. docs/reference/formats.md */
const [timeOffset, durationOffset] = [60, 88];

const mediaType = (codec) => `video/mp4; codecs="${codec}"`;

/** Returns whether this browser says that it plays the codec. */
export function playsFragments(codec) {
  return Source?.isTypeSupported(mediaType(codec)) === true;
}

/**
 * Plays pictures whose `data` is a fragment of MP4. Its events and figures are those of `Decoder`.
 *
 * The timeline is this player's own, in µs from the first picture. After a gap of more than two durations a browser
 * would wait for a keyframe, so longer gaps are played as two durations.
 */
export class FragmentPlayer extends EventTarget {
  constructor(canvas) {
    super();
    Object.assign(this, { canvas, waiting: new Map(), chunks: [], keys: [], needsKey: true, errors: 0, skipped: 0 });
  }

  /** Takes the initialization segment, `preamble`, of the pictures that follow. */
  configure({ codec, preamble }) {
    if (!playsFragments(codec)) {
      this.close();
      return this.tell("trouble", { text: `This browser cannot play ${codec} in MP4.`, isUnsupported: true });
    }
    this.initialization = { type: mediaType(codec), preamble };
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
    this.needsKey = false;
    const { data, pts } = picture;
    this.time = this.lastPTS === undefined ? 0 : this.time + Math.min(pts - this.lastPTS, 2 * this.duration);
    this.lastPTS = pts;
    this.duration = new DataView(data.buffer, data.byteOffset).getUint32(durationOffset);
    if (picture.key) this.keys.push(this.time);
    this.waiting.set(this.time, picture);
    if (this.waiting.size > longestQueue) this.waiting.delete(this.waiting.keys().next().value);
    this.chunks.push({ fragment: data, time: this.time });
    this.pump();
  }

  // The browser's side

  open() {
    const [source, video] = [new Source(), document.createElement("video")];
    Object.assign(this, { source, video, chunks: [this.initialization], keys: [], needsKey: true, lastPTS: undefined });
    // With sound, a click would be needed to start. A managed source requires that it is not played remotely.
    Object.assign(video, { muted: true, playsInline: true, disableRemotePlayback: true });
    video.addEventListener("error", () => this.failed(video, video.error?.message));
    source.addEventListener("sourceopen", () => this.opened(source), { once: true });
    video.src = URL.createObjectURL(source);
    this.awaitFrame(video);
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
      const rate = Math.abs(lag - wanted) < 0.03 ? 1 : Math.min(1.1, Math.max(0.9, 1 + (lag - wanted) / 2));
      if (Math.abs(video.playbackRate - rate) > 0.005) video.playbackRate = rate;
    }
    if (video.paused) video.play().catch((error) => error.name === "AbortError" || this.tell("trouble", { text: `The browser does not play: ${error.message}` }));
  }

  awaitFrame(video) {
    if (video.requestVideoFrameCallback) {
      video.requestVideoFrameCallback((_, { mediaTime, width, height }) => this.frame(video, mediaTime, width, height));
    } else {
      requestAnimationFrame(() => this.frame(video, video.currentTime, video.videoWidth, video.videoHeight));
    }
  }

  frame(video, time, width, height) {
    if (video !== this.video) return;
    this.awaitFrame(video);
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
