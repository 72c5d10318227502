// A line chart of the last two minutes, newest at the right.

import { element, setText } from "./dom.js";

const seconds = 120;

export class Chart {
  /** `lines`: [{name, value: (entry) => number, text: (number) => string}], one or two. */
  constructor(title, lines) {
    this.lines = lines;
    this.canvas = element("canvas", { role: "img", "aria-label": `${title}, last two minutes` });
    this.values = lines.map(() => element("b"));
    const key = element("p", { class: "key" });
    lines.forEach((line, place) => {
      key.append(element("span", { class: place ? "second" : "" }, `${line.name} `, this.values[place]));
    });
    this.root = element("section", { class: "card chart" }, element("h2", { text: title }), this.canvas, key);
  }

  draw(history) {
    const last = history.at(-1);
    this.lines.forEach((line, place) => setText(this.values[place], last ? line.text(line.value(last)) : "–"));
    const { canvas } = this;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
    if (!width) return;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const style = getComputedStyle(canvas);
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, width, height);
    const values = this.lines.flatMap((line) => history.map(line.value)).filter(Number.isFinite);
    const top = Math.max(...values, 0) * 1.15 || 1;
    const y = (value) => height - 1 - (value / top) * (height - 14 * ratio);
    context.lineWidth = ratio;
    context.strokeStyle = style.getPropertyValue("--line");
    context.fillStyle = style.getPropertyValue("--soft");
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    for (const share of [0, 0.5, 1]) {
      const value = (top / 1.15) * share;
      context.beginPath();
      context.moveTo(0, y(value));
      context.lineTo(width, y(value));
      context.stroke();
      if (share > 0 && values.length) context.fillText(this.lines[0].text(value), 0, y(value) - 3 * ratio);
    }
    this.lines.forEach((line, place) => {
      context.strokeStyle = style.getPropertyValue(place ? "--second" : "--first");
      context.lineWidth = 2 * ratio;
      context.lineJoin = "round";
      context.beginPath();
      let isDown = false;
      history.forEach((entry, index) => {
        const value = line.value(entry);
        if (!Number.isFinite(value)) {
          isDown = false;
          return;
        }
        const x = width - ((history.length - 1 - index) / (seconds - 1)) * width;
        if (isDown) context.lineTo(x, y(value));
        else context.moveTo(x, y(value));
        isDown = true;
      });
      context.stroke();
    });
  }
}
