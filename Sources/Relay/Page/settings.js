// A form that changes a session while it runs.

import { field } from "./dialog.js";
import { element, setText } from "./dom.js";
import { relay } from "./site.js";

/** What the form shows of a session: its fields, and what they send. */
const settings = {
  bitrate: { shown: (bits) => String(bits / 1e6), sent: (text) => Math.round(Number(text) * 1e6) },
  fps: { shown: String, sent: Number },
  // Empty means the screen's.
  width: { shown: (side) => String(side ?? ""), sent: (text) => (text ? Number(text) : null) },
  height: { shown: (side) => String(side ?? ""), sent: (text) => (text ? Number(text) : null) },
};

export class Settings {
  /** @param {(session: object) => void} changed Takes the session's report after a change. */
  constructor(changed) {
    this.changed = changed;
    const number = (limits) => element("input", { type: "number", ...limits });
    this.fields = {
      bitrate: number({ min: 0.05, max: 100, step: "any", required: true }),
      fps: number({ min: 1, max: 240, required: true, inputMode: "numeric" }),
      width: number({ min: 16, max: 8192, inputMode: "numeric" }),
      height: number({ min: 16, max: 8192, inputMode: "numeric" }),
    };
    this.button = element("button", { type: "submit", class: "main", text: "Change" });
    this.said = element("p", { class: "quiet", role: "status" });
    this.wrong = element("p", { class: "wrong", role: "alert" });
    const { bitrate, fps, width, height } = this.fields;
    this.form = element(
      "form",
      { on: { submit: (event) => { event.preventDefault(); this.apply(); } } },
      element(
        "div",
        { class: "fields" },
        field("Bitrate, Mbit/s", bitrate),
        field("Frames per second", fps),
        field("Width", width, "empty: the screen's"),
        field("Height", height, "empty: keeps the shape"),
      ),
      element("div", { class: "change" }, this.button, this.said),
      this.wrong,
    );
    this.root = element("details", { class: "changes settings" }, element("summary", { text: "Change the session" }), this.form);
  }

  /** Shows a session's settings, except in fields that the person has changed. */
  update(session) {
    const isOther = session.id !== this.session?.id;
    for (const [name, input] of Object.entries(this.fields)) {
      const text = settings[name].shown(session[name]);
      if (isOther || input.value === this.shown[name]) input.value = text;
      this.shown = { ...this.shown, [name]: text };
    }
    this.session = session;
  }

  async apply() {
    const changes = Object.entries(this.fields).filter(([name, input]) => input.value !== this.shown[name]);
    setText(this.said, "");
    setText(this.wrong, "");
    if (changes.length === 0) return setText(this.said, "Nothing is different.");
    this.button.disabled = true;
    try {
      const body = Object.fromEntries(changes.map(([name, input]) => [name, settings[name].sent(input.value)]));
      const session = await relay.session(this.session.id).change(body);
      for (const [name, input] of changes) this.shown[name] = input.value;
      this.update(session);
      this.changed(session);
      setText(this.said, "Changed.");
    } catch (error) {
      setText(this.wrong, error.message);
    }
    this.button.disabled = false;
  }
}
