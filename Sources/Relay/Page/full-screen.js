// Full screen; in browsers that have it only for videos, such as those of iPhones, the whole window instead.

/** Shows an element on the full screen. Its event `change` comes when that begins or ends. */
export class FullScreen extends EventTarget {
  /** @param {HTMLElement} root */
  constructor(root) {
    super();
    this.root = root;
    this.changed = () => this.dispatchEvent(new Event("change"));
    document.addEventListener("fullscreenchange", this.changed);
  }

  get isOn() {
    return document.fullscreenElement === this.root || this.fillsWindow;
  }

  /** Whether it only fills the window. */
  get fillsWindow() {
    return this.root.classList.contains("fills-window");
  }

  async toggle() {
    if (document.fullscreenElement) return document.exitFullscreen();
    if (this.fillsWindow || !this.root.requestFullscreen) return this.fill(!this.fillsWindow);
    await this.root.requestFullscreen();
    // The keys that the browser keeps go to the screen, too, where the browser allows it.
    await navigator.keyboard?.lock?.().catch(() => {});
  }

  /** Lets it fill the window, or ends that. Meanwhile the rest of the page is hidden. */
  fill(isOn) {
    this.root.classList.toggle("fills-window", isOn);
    document.documentElement.classList.toggle("window-filled", isOn);
    this.changed();
  }

  end() {
    document.removeEventListener("fullscreenchange", this.changed);
    if (this.fillsWindow) this.fill(false);
  }
}
