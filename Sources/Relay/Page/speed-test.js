// How fast bytes come here, beside the session that is watched.

import { element, setText } from "./dom.js";
import { relay } from "./site.js";
import { bitrate } from "./words.js";

/** How much of what came the recommended bitrate is, and what bitrates a session may have, in bit/s. */
const share = 0.7;
const [least, most] = [50_000, 100_000_000];

export class SpeedTest {
  constructor() {
    const key = element("kbd", { text: "T" });
    this.button = element("button", { type: "button", "aria-keyshortcuts": "T", on: { click: () => this.run() } }, "Speed test", key);
    this.text = element("span");
    this.lower = element("button", { type: "button", class: "changes", hidden: true, on: { click: () => this.apply() } });
    this.result = element("p", { class: "quiet speed", role: "status", hidden: true }, this.text, " ", this.lower);
  }

  /**
   * @param {object} session The session's report.
   * @param {import("./heliograph.js").Player} player
   */
  attach(session, player) {
    [this.session, this.player] = [session, player];
  }

  async run() {
    if (!this.session) return;
    this.button.disabled = true;
    this.lower.hidden = true;
    this.say("Measuring…");
    const [before, began] = [this.player.statistics.totals.bytes, performance.now()];
    try {
      const speed = await relay.measureSpeed();
      if (speed.bytes === 0) throw new Error("Too little came to measure it.");
      const seconds = (performance.now() - began) / 1000;
      const bits = (this.player.statistics.totals.bytes - before) * 8;
      const received = seconds > 0 ? bits / seconds : 0;
      // What an image element receives is not known here; the relay knows what the session has.
      const beside = this.player.player === "mjpeg" ? (this.session.rates?.bitrate ?? 0) : received;
      this.show(speed.bitrate, beside);
    } catch (error) {
      this.say(error.message);
    }
    this.button.disabled = false;
  }

  show(speed, beside) {
    this.recommended = Math.min(Math.max(Math.floor((speed + beside) * share), least), most);
    const measured = `${bitrate(speed)} come from the relay, beside ${bitrate(beside)} of this session.`;
    this.say(`${measured} A bitrate of ${bitrate(this.recommended)} leaves room.`);
    setText(this.lower, `Lower the session's ${bitrate(this.session.bitrate)} to that`);
    this.lower.hidden = this.recommended >= this.session.bitrate;
  }

  async apply() {
    this.lower.disabled = true;
    try {
      const { bitrate: lowered } = await relay.session(this.session.id).change({ bitrate: this.recommended });
      this.say(`The session has ${bitrate(lowered)} now.`);
      this.lower.hidden = true;
    } catch (error) {
      this.say(error.message);
    }
    this.lower.disabled = false;
  }

  say(text) {
    setText(this.text, text);
    this.result.hidden = false;
  }
}
