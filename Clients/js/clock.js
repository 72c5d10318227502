// The relay's clock, on this page's own.

const rounds = 8;

/** Converts instants: this page's are ms of `performance.now()`, the relay's are ns. */
export class RelayClock {
  constructor() {
    /**
     * What to add to an instant of the relay, ms, give or take `error`; `null` until it is known.
     *
     * @type {number | null}
     */
    this.offset = null;
    this.error = null;
    this.question = 0;
    this.left = 0;
  }

  get isKnown() {
    return this.offset !== null;
  }

  /**
   * Begins eight questions. What was known holds until the last is answered.
   *
   * @param {number} now
   * @returns {number} The id of the first question.
   */
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
   * Takes an answer in.
   *
   * The relay gave it between question and answer. The shorter the way there and back, the surer it was in the middle.
   *
   * @param {number} id Of the question.
   * @param {number} relay The relay's clock, ns.
   * @param {number} now
   * @returns {number | null} The id of the question to ask now; `null` if there is none.
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

  /** Returns an instant of the relay on this page's clock; `null` until that is known. */
  local(nanoseconds) {
    return this.isKnown ? Number(nanoseconds) / 1e6 + this.offset : null;
  }

  /** Returns an instant of this page on the relay's clock, a whole number; `null` until that is known. */
  relay(milliseconds) {
    return this.isKnown ? Math.round((milliseconds - this.offset) * 1e6) : null;
  }
}
