// The picture in a small window above all others.

/** Whether this browser can show a canvas that way. */
const isSupported = document.pictureInPictureEnabled === true && "captureStream" in HTMLCanvasElement.prototype;

/** Shows a player's canvas in the browser's small window. Its event `change` comes when that begins or ends. */
export class PictureInPicture extends EventTarget {
  static isSupported = isSupported;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {object} calls
   * @param {() => void} calls.pause The person pauses in the small window.
   * @param {() => void} calls.resume
   */
  constructor(canvas, { pause, resume }) {
    super();
    Object.assign(this, { canvas, pause, resume });
  }

  get isOn() {
    return this.video !== undefined && document.pictureInPictureElement === this.video;
  }

  /** Begins or ends. Call it in a handler of a click or a key. */
  async toggle() {
    if (this.isOn) return document.exitPictureInPicture();
    this.video ??= this.makeVideo();
    this.video.srcObject ??= this.canvas.captureStream();
    // A static picture would not be captured before it changes.
    const context = this.canvas.getContext("2d");
    context.drawImage(this.canvas, 0, 0);
    await this.video.play();
    await this.video.requestPictureInPicture();
  }

  makeVideo() {
    const video = document.createElement("video");
    Object.assign(video, { muted: true, playsInline: true });
    video.addEventListener("enterpictureinpicture", () => this.changed());
    video.addEventListener("leavepictureinpicture", () => {
      this.release();
      this.changed();
    });
    // The small window has buttons of its own.
    video.addEventListener("pause", () => this.isOn && this.pause());
    video.addEventListener("play", () => this.isOn && this.resume());
    return video;
  }

  changed() {
    this.dispatchEvent(new Event("change"));
  }

  /** Stops copying pictures. */
  release() {
    for (const track of this.video?.srcObject?.getTracks() ?? []) track.stop();
    if (this.video) this.video.srcObject = null;
  }

  end() {
    if (this.isOn) document.exitPictureInPicture().catch(() => {});
    this.release();
  }
}
