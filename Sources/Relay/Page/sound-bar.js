// What the page shows about sound: the button that begins it, its volume and its level.

import { element, setText } from "./dom.js";
import { remember, remembered } from "./memory.js";

/** The quietest sound that the meter shows, dB below the loudest. */
const quietest = 60;

/** Returns the volume that was last set. */
function rememberedVolume() {
  const volume = Number(remembered("volume") ?? 1);
  return volume >= 0 && volume <= 1 ? volume : 1;
}

export class SoundBar {
  constructor() {
    // A click must leave the focus where keys go, because losing it ends control.
    const keepFocus = (event) => event.preventDefault();
    const label = element("span", { text: "Sound" });
    this.button = element(
      "button",
      { type: "button", "aria-keyshortcuts": "M", "aria-pressed": "false", on: { pointerdown: keepFocus, mousedown: keepFocus, click: () => this.clicked() } },
      label,
      element("kbd", { text: "M" }),
    );
    this.slider = element("input", { type: "range", min: 0, max: 100, "aria-label": "Volume", on: { input: () => this.slid() } });
    this.meter = element("meter", { min: 0, max: 1, "aria-hidden": "true" });
    this.root = element("div", { class: "sound", hidden: true }, this.button, this.slider, this.meter);
    this.problem = element("p", { class: "quiet", role: "status", hidden: true });
  }

  /** @param {import("./sound.js").Sound} sound */
  attach(sound) {
    this.sound = sound;
    sound.volume = rememberedVolume();
    this.slider.value = Math.round(sound.volume * 100);
    sound.addEventListener("change", () => this.show());
    sound.addEventListener("level", () => this.showLevel());
    this.show();
  }

  show() {
    const { sound } = this;
    const isOff = sound.state === "off";
    this.root.hidden = sound.track === undefined && isOff;
    this.button.disabled = isOff && !sound.isPossible;
    this.button.title = isOff ? sound.obstacle : "";
    this.button.setAttribute("aria-pressed", String(!isOff));
    this.slider.hidden = isOff;
    this.meter.hidden = isOff || sound.level === null;
    setText(this.problem, sound.reason);
    this.problem.hidden = sound.reason === "";
  }

  showLevel() {
    const level = this.sound.level ?? 0;
    this.meter.value = level > 0 ? Math.max(0, 1 + (20 * Math.log10(level)) / quietest) : 0;
  }

  clicked() {
    if (this.sound?.state === "off") this.sound.start();
    else this.sound?.stop();
  }

  slid() {
    this.sound.volume = Number(this.slider.value) / 100;
    remember("volume", this.sound.volume);
  }
}
