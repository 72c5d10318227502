// How far sound is from the pictures.

/** The weight of one more picture, and of one more report about the sound, in their means. */
const [pictureWeight, soundWeight] = [1 / 30, 1 / 20];
/** A difference between two clocks that changes by more than this at once has jumped, ms. */
const jump = 200;

/** Returns the mean with one more value. */
const mean = (before, value, weight) =>
  before === undefined || Math.abs(value - before) > jump ? value : before + (value - before) * weight;

/**
 * Compares when pictures and sound of the same PTS are presented.
 *
 * PTS are in µs, instants in ms of `performance.now()`, and times of the clock that plays sound in s. The relay's clock
 * is not needed.
 */
export class Skew {
  constructor() {
    this.reset();
  }

  reset() {
    this.decodedPicture = undefined;
    this.picture = undefined;
    this.clock = undefined;
    this.sound = undefined;
  }

  /** Notes that a picture was decoded, and could be presented. */
  decoded(pts, at) {
    this.decodedPicture = mean(this.decodedPicture, at - pts / 1000, pictureWeight);
  }

  /** Notes that a picture was presented. */
  pictured(pts, at) {
    this.picture = mean(this.picture, at - pts / 1000, pictureWeight);
  }

  /**
   * Notes how sound is played.
   *
   * @param {{ pts: number, time: number }} sample A sample that the clock plays at `time`.
   * @param {number} contextTime What the clock reads at the instant `now`.
   * @param {number} latency From the clock to the ear, s.
   */
  heard({ pts, time }, contextTime, latency, now) {
    // The clock that plays moves in steps, so one reading tells little.
    this.clock = mean(this.clock, now - (contextTime - latency) * 1000, soundWeight);
    this.sound = time * 1000 + this.clock - pts / 1000;
  }

  /** How much later sound is than the picture, ms; `null` until both are known. */
  get value() {
    return this.picture === undefined || this.sound === undefined ? null : this.sound - this.picture;
  }

  /**
   * What the clock that plays reads, minus the PTS, if sound is heard when its pictures are decoded, s; `undefined`
   * until known. Not when they are presented: those that wait for sound would make it wait for them.
   */
  get offset() {
    return this.decodedPicture === undefined || this.clock === undefined ? undefined : (this.decodedPicture - this.clock) / 1000;
  }
}
