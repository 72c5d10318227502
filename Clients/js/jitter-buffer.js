// Decoded sound until it is due: plays it evenly, in step with the pictures, without clicks.

import { Margin } from "./margin.js";

/** Samples per second. */
const rate = 48_000;
/** The samples of a fade: 5 ms. */
const fade = 240;
/** How many samples before the end of the sound a fade begins, which may be played a little faster. */
const lastCall = fade + 4;
/** Sound that begins this many samples before or after the end of the last one continues it. */
const seam = 24;
/** The greatest correction of the speed, and the correction per second of a wrong delay, 1/s. */
const [mostCorrection, gain] = [0.005, 0.2];
/** Sound waits at most this long for pictures, s. */
const longestWait = 0.4;
/** Delays that are wrong by more than this are corrected by a jump, s: too long, much too long at once, too short. */
const [tooLong, muchTooLong, tooShort] = [0.1, 0.5, 0.2];
/** How far a delay may be off without a new beginning after silence, s. */
const tolerance = 0.04;

/**
 * Holds stereo sound of 48 kHz until it is due.
 *
 * Its playhead is a place in the sound, in samples. It moves at about real time, also through silence and holes. Each
 * packet shows by its arrival how far ahead of the playhead sound comes, see `Margin`. Playing slightly faster or
 * slower keeps that at its target, or keeps the sound in step with the pictures if they are later. All `now` are
 * seconds of the clock that plays.
 */
export class JitterBuffer {
  constructor() {
    this.margin = new Margin();
    /** Interruptions that were not silence. */
    this.holes = 0;
    /** Packets that came too late or were skipped. */
    this.dropped = 0;
    this.reset();
  }

  /** Empties it. The next sound is placed anew. */
  reset() {
    this.chunks = [];
    /** The playhead, in samples; `undefined` before the first sound. */
    this.place = undefined;
    /** Where the sound that came ends. */
    this.end = undefined;
    /** Whether digital silence follows what came. */
    this.isSilent = false;
    this.gain = 0;
    this.speed = 1;
    /** A jump of the playhead that waits for the end of a fade: how far, s, and the mean margin after it. */
    this.jump = undefined;
    /** What the pictures say: how far the clock is ahead of the sound that belongs to the picture shown, s. */
    this.pictures = undefined;
    this.margin.restart(undefined);
    [this.energy, this.played] = [0, 0];
  }

  /** Sets what the clock reads, minus the time in the sound, when sound and picture are in step. In s. */
  inStepWith(offset) {
    this.pictures = offset;
  }

  /** How much later sound should be heard, s; negative for earlier. */
  correction(now) {
    const { mean, target } = this.margin;
    if (mean === undefined) return 0;
    const forPictures = this.pictures === undefined ? -Infinity : this.pictures - (now - this.place / rate);
    return Math.max(target - mean, Math.min(forPictures, longestWait - mean));
  }

  // Sound comes

  /**
   * Adds a decoded packet.
   *
   * @param {object} packet
   * @param {number} packet.pts µs.
   * @param {Float32Array} packet.left
   * @param {Float32Array} packet.right
   * @param {boolean} [packet.silence] Whether digital silence follows.
   * @param {boolean} [packet.gap] Whether sound before it was lost.
   * @param {number} now
   */
  add({ pts, left, right, silence = false, gap = false }, now) {
    let start = Math.round((pts * rate) / 1e6);
    if (this.end !== undefined && Math.abs(start - this.end) <= seam) start = this.end;
    const overlap = Math.max(0, (this.end ?? start) - start);
    if (overlap >= left.length) return void (this.dropped += 1);
    const chunk = {
      start: start + overlap,
      end: start + left.length,
      left: left.subarray(overlap),
      right: right.subarray(overlap),
      silence,
      isCut: gap || overlap > 0,
    };
    this.arrived(chunk, now);
    this.chunks.push(chunk);
    this.end = chunk.end;
    this.isSilent = silence;
  }

  /** Places the playhead, or notes how early the chunk is. */
  arrived({ start, end }, now) {
    if (this.place === undefined) return this.align(start, now);
    const early = (start - this.place) / rate;
    if (this.end > this.place) {
      if (early < fade / rate && !this.isSilent) {
        // The sound has begun to fade out.
        if (start === this.end) this.holes += 1;
        this.margin.ranDry(fade / rate - early);
      }
      return this.continues(start, early, (end - start) / rate, now);
    }
    if (early < 0 && !this.isSilent) this.margin.ranDry(-early);
    const wanted = this.wantedMargin(start, now);
    // Nothing is heard now, so the playhead may move.
    if (early < wanted / 2 || early > wanted + tolerance) this.align(start, now);
    else this.margin.came(early, (end - start) / rate, now);
  }

  continues(start, early, duration, now) {
    this.margin.came(early, duration, now);
    const wanted = this.wantedMargin(start, now);
    const low = this.margin.lastingLow(now);
    const later = this.correction(now);
    if (early - wanted > muchTooLong) this.jump = { by: early - wanted, margin: wanted };
    else if (low !== undefined && low - wanted > tooLong) this.jump = { by: low - wanted, margin: this.margin.mean - low + wanted };
    else if (later > tooShort) this.jump = { by: -later, margin: this.margin.mean + later };
  }

  /** Returns how early a packet that begins at `start` should come, s. */
  wantedMargin(start, now) {
    const { target } = this.margin;
    const forPictures = this.pictures === undefined ? target : start / rate - (now - this.pictures);
    return Math.max(target, Math.min(forPictures, longestWait));
  }

  /** Moves the playhead so that the sound at `start` is heard in time. Nothing is heard meanwhile. */
  align(start, now) {
    const wanted = this.wantedMargin(start, now);
    this.place = start - wanted * rate;
    this.margin.restart(wanted);
    this.jump = undefined;
  }

  // Sound goes

  /** Fills a block of samples. */
  render(left, right, now) {
    if (this.place === undefined) {
      left.fill(0);
      right.fill(0);
      return;
    }
    let chunk = this.chunkAtPlace();
    // Without sound that waits, nothing tells whether the speed is right.
    const wrong = this.chunks.length > 0 ? this.correction(now) : 0;
    this.speed = 1 - Math.max(-mostCorrection, Math.min(mostCorrection, wrong * gain));
    let end = this.runEnd();
    for (let index = 0; index < left.length; index += 1) {
      if (this.jump !== undefined && this.gain === 0) {
        this.leap();
        chunk = this.chunkAtPlace();
        end = this.runEnd();
      }
      if (!chunk || this.place >= chunk.end) {
        chunk = this.chunkAtPlace();
        if (this.place >= end) end = this.runEnd();
      }
      const isWanted = chunk !== undefined && this.jump === undefined && end - this.place > lastCall;
      this.gain = isWanted ? Math.min(1, this.gain + 1 / fade) : Math.max(0, this.gain - 1 / fade);
      if (this.gain > 0 && chunk) this.mix(chunk, left, right, index);
      else left[index] = right[index] = 0;
      this.energy += left[index] ** 2 + right[index] ** 2;
      this.place += this.speed;
    }
    this.played += 2 * left.length;
  }

  /** Writes the sample at the playhead, between two of the sound. */
  mix(chunk, left, right, index) {
    const first = Math.floor(this.place);
    const share = this.place - first;
    const at = first - chunk.start;
    const isLast = at + 1 >= chunk.left.length;
    const next = isLast ? this.chunks[1] ?? chunk : chunk;
    const after = isLast && next !== chunk ? 0 : Math.min(at + 1, next.left.length - 1);
    left[index] = (chunk.left[at] + (next.left[after] - chunk.left[at]) * share) * this.gain;
    right[index] = (chunk.right[at] + (next.right[after] - chunk.right[at]) * share) * this.gain;
  }

  /** Returns the chunk at the playhead, if there is one, and forgets those before it. */
  chunkAtPlace() {
    this.forget();
    const first = this.chunks[0];
    return first && first.start <= this.place ? first : undefined;
  }

  /** Forgets the chunks before the playhead. */
  forget() {
    while (this.chunks.length > 0 && this.chunks[0].end <= this.place) {
      const { end, silence } = this.chunks.shift();
      const isHole = this.chunks.length === 0 || this.chunks[0].start > end;
      if (isHole && !silence && this.wasHeard) this.holes += 1;
      this.wasHeard = !isHole;
    }
    if (this.chunks[0]?.start <= this.place) this.wasHeard = true;
  }

  /** Returns where the sound at the playhead ends. A chunk that continues it seamlessly prolongs it. */
  runEnd() {
    const { chunks } = this;
    let last = 0;
    while (last + 1 < chunks.length && chunks[last + 1].start === chunks[last].end && !chunks[last + 1].isCut) last += 1;
    return chunks[last]?.end ?? -Infinity;
  }

  /** Moves the playhead by the jump, which is between two sounds now. */
  leap() {
    const { place: from, jump } = this;
    this.jump = undefined;
    this.place += jump.by * rate;
    if (jump.by < 0) this.cutBefore(from);
    const before = this.chunks.length;
    this.chunks = this.chunks.filter(({ end }) => end > this.place);
    this.dropped += before - this.chunks.length;
    this.wasHeard = false;
    this.margin.restart(jump.margin);
  }

  /** Removes the sound before a place, so that it is not heard twice. */
  cutBefore(place) {
    const [first] = this.chunks;
    const heard = Math.ceil(place) - (first?.start ?? Infinity);
    if (heard <= 0) return;
    if (heard >= first.left.length) this.chunks.shift();
    else this.chunks[0] = { ...first, start: first.start + heard, left: first.left.subarray(heard), right: first.right.subarray(heard) };
  }

  // Figures

  /** Returns the root mean square of what was played since the last call, 0 to 1. */
  takeLevel() {
    const level = this.played > 0 ? Math.sqrt(this.energy / this.played) : 0;
    [this.energy, this.played] = [0, 0];
    return level;
  }

  /** The sound that waits, s; 0 if there is none. */
  get delay() {
    return this.place === undefined ? 0 : Math.max(0, this.end - this.place) / rate;
  }
}
