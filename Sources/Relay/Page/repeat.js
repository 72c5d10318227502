// Looks again and again, for what has no events.

/** Calls an action from the first `look` on every so often, while the page can be seen. */
export class Repeat {
  /**
   * @param {number} interval In ms.
   * @param {() => void} action
   */
  constructor(interval, action) {
    Object.assign(this, { interval, action });
    this.changed = () => this.look();
    document.addEventListener("visibilitychange", this.changed);
  }

  /** Calls the action now, and counts from here on. */
  look() {
    clearTimeout(this.timer);
    if (document.hidden || this.hasEnded) return;
    this.timer = setTimeout(() => this.look(), this.interval);
    this.action();
  }

  end() {
    this.hasEnded = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.changed);
  }
}
