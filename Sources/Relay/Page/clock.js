// The relay's clock, told on this page's own.

const rounds = 8;

/** Instants of this page are ms of performance.now(), those of the relay ns. */
export class RelayClock {
  constructor() {
    /** What is to be added to an instant of the relay, ms; null until it is known, to within `error`. */
    this.offset = null;
    this.error = null;
    this.question = 0;
    this.left = 0;
  }

  get isKnown() {
    return this.offset !== null;
  }

  /** Begins eight questions, and returns the first one's id. What was known holds until the last is answered. */
  ask(now) {
    this.left = rounds;
    this.best = null;
    return this.next(now);
  }

  next(now) {
    this.asked = now;
    this.question += 1;
    return this.question;
  }

  /**
   * Takes an answer in, and returns the id of the question to be asked now; null when there is none.
   *
   * The relay gave it somewhere between question and answer: most surely in the middle where the way there and back was shortest.
   */
  answered(id, relay, now) {
    if (id !== this.question || this.left === 0) return null;
    const trip = now - this.asked;
    if (!this.best || trip < this.best.trip) this.best = { trip, offset: (now + this.asked) / 2 - relay / 1e6 };
    this.left -= 1;
    if (this.left > 0) return this.next(now);
    this.offset = this.best.offset;
    this.error = this.best.trip / 2;
    return null;
  }

  /** An instant of the relay on this page's clock; null until that is known. */
  local(nanoseconds) {
    return this.isKnown ? Number(nanoseconds) / 1e6 + this.offset : null;
  }

  /** An instant of this page on the relay's clock, a whole number; null until that is known. */
  relay(milliseconds) {
    return this.isKnown ? Math.round((milliseconds - this.offset) * 1e6) : null;
  }
}
