// How much space the library takes, and how much is left.

import { element, setText } from "./dom.js";
import { relay } from "./site.js";
import { usageProblem, usageShare, usageText } from "./words.js";

/** The time between two looks, ms. */
const INTERVAL = 10_000;

export class Gauge {
  constructor() {
    this.meter = element("meter", { min: 0, max: 1, low: 0.8, high: 0.9, optimum: 0, value: 0, "aria-label": "Space that the library takes" });
    this.text = element("span", { class: "quiet" });
    this.problem = element("p", { class: "notice", role: "alert", hidden: true });
    this.line = element("p", { class: "gauge" }, this.meter, this.text);
    this.root = element("div", {}, this.line, this.problem);
  }

  /** Shows the space of this moment, if the last look is long enough ago. */
  async look() {
    const now = performance.now();
    if (now - this.looked < INTERVAL) return;
    this.looked = now;
    try {
      this.show(await relay.library.usage());
    } catch {
      // The list says what is wrong.
      this.looked = undefined;
    }
  }

  show(usage) {
    this.meter.value = usageShare(usage);
    setText(this.text, usageText(usage));
    const problem = usageProblem(usage);
    this.problem.hidden = !problem;
    setText(this.problem, problem);
  }
}
