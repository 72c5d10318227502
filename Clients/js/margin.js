// How long before its time sound comes, and how long it should.

/** The bounds of the target, s, and where it begins. */
const [least, most, first] = [0.02, 0.12, 0.04];
/** The target grows by at least and at most this when sound comes too late, s. */
const [leastGrowth, mostGrowth] = [0.01, 0.04];
/** The target shrinks by `step` after each `period` in which `spare` was left, s. */
const [step, period, spare] = [0.004, 10, 0.01];
/** The time over which margins are averaged, s. */
const memory = 1;
/** How long single margins are kept, s, and how long they must reach back to tell a lasting change. */
const [window, lasting] = [0.5, 0.4];

/**
 * Decides how early sound should come. A margin is the time from a packet's arrival until its first sample is due.
 *
 * All times are in seconds. A pure value: `now` is passed in.
 */
export class Margin {
  constructor() {
    /** The mean that is wanted. It grows when sound comes too late, and shrinks slowly while it never does. */
    this.target = first;
    this.restart(undefined);
  }

  /** Forgets what came, because the playback has moved. The next margins are about `mean`. */
  restart(mean) {
    /** The mean of recent margins; `undefined` before the first one. */
    this.mean = mean;
    this.recent = [];
    this.begin(undefined);
  }

  /** Begins a period at whose end the target may shrink. */
  begin(now) {
    this.began = now;
    this.lowest = Infinity;
  }

  /** Takes in the margin of a packet that came `now`. */
  came(margin, duration, now) {
    this.mean = this.mean === undefined ? margin : this.mean + (margin - this.mean) * Math.min(1, duration / memory);
    // While no packets come, none is late. That does not count.
    if (this.recent.length > 0 && now - this.recent.at(-1).now > 1) this.begin(now);
    this.recent.push({ margin, now });
    while (this.recent[0].now < now - window) this.recent.shift();
    if (this.began === undefined) this.begin(now);
    this.lowest = Math.min(this.lowest, margin);
    if (now - this.began >= period) this.review(now);
  }

  /** Records that a packet came this much too late, or almost. */
  ranDry(lateness) {
    this.target = Math.min(most, this.target + Math.min(mostGrowth, Math.max(leastGrowth, lateness)));
    this.begin(undefined);
  }

  /** Returns the smallest of the recent margins; `undefined` until there are enough to tell a lasting change. */
  lastingLow(now) {
    if (this.recent.length === 0 || this.recent[0].now > now - lasting) return undefined;
    return Math.min(...this.recent.map(({ margin }) => margin));
  }

  /** Shrinks the target if packets came early enough. Only their spread counts: pictures may have raised the mean. */
  review(now) {
    if (this.target - (this.mean - this.lowest) > spare) this.target = Math.max(least, this.target - step);
    this.begin(now);
  }
}
