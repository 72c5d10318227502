// Decoded pictures until the sound of the same time is heard.

/** How many pictures may wait. A browser's decoder has few more. */
const capacity = 10;
/** A picture that would wait longer is drawn at once, ms: sound is never that late, so the two clocks have parted. */
const longest = 500;
/** A picture that is due sooner than this is drawn at once, ms: timers are not finer. */
const soon = 2;

/** Holds decoded pictures back until they are due, and draws each one in turn. */
export class Hold {
  /** @param {(entry: { pts: number, frame: VideoFrame }) => void} draw */
  constructor(draw) {
    this.draw = draw;
    this.entries = [];
    this.offset = undefined;
  }

  /** Sets what `performance.now()` is when a picture is due, minus its PTS, ms. `undefined`: pictures do not wait. */
  follow(offset) {
    this.offset = offset;
    this.drawDue();
  }

  add(entry) {
    this.entries.push(entry);
    this.drawDue();
  }

  /** Forgets the pictures that wait. */
  clear() {
    clearTimeout(this.timer);
    for (const { frame } of this.entries) frame.close();
    this.entries = [];
  }

  drawDue() {
    clearTimeout(this.timer);
    while (this.entries.length > capacity || (this.entries.length > 0 && this.wait <= soon)) this.draw(this.entries.shift());
    if (this.entries.length > 0) this.timer = setTimeout(() => this.drawDue(), this.wait);
  }

  /** How long the next picture waits, ms. */
  get wait() {
    const wait = this.offset === undefined ? 0 : this.entries[0].pts / 1000 + this.offset - performance.now();
    return wait > longest ? 0 : wait;
  }
}
