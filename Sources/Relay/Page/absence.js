// Whether a person can see the page.

/** How long the page may be hidden before it counts as left, ms: people change tabs and come back. */
const PATIENCE = 10_000;

/** Tells when the page has been hidden for a while, and when it is seen again. */
export class Absence {
  /**
   * @param {object} calls
   * @param {() => void} calls.left
   * @param {() => void} calls.back
   * @param {() => boolean} [calls.isUsed] Whether a hidden page is in use all the same. It is asked every 10 s.
   */
  constructor({ left, back, isUsed = () => false }) {
    Object.assign(this, { left, back, isUsed, isLeft: false });
    this.changed = () => this.look();
    document.addEventListener("visibilitychange", this.changed);
    this.look();
  }

  look() {
    clearTimeout(this.timer);
    if (document.hidden) {
      if (!this.isLeft) this.timer = setTimeout(() => this.late(), PATIENCE);
    } else if (this.isLeft) {
      this.isLeft = false;
      this.back();
    }
  }

  late() {
    if (this.isUsed()) return this.look();
    this.isLeft = true;
    this.left();
  }

  end() {
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.changed);
  }
}
