// Notices that something was done, with a button that takes it back.

import { element, setText } from "./dom.js";

/** How long the relay keeps what was deleted, ms. */
const KEPT = 60_000;

/** Shows a notice until it is taken back, closed, or too late. It stays when the view changes. */
export function offerUndo(text, undo) {
  const words = element("p", { text });
  const button = element("button", { type: "button", class: "main", text: "Undo" });
  const close = element("button", { type: "button", class: "plain", text: "Close", on: { click: () => end() } });
  const notice = element("div", { class: "undo deletes" }, words, button, close);
  const end = () => {
    clearTimeout(timer);
    notice.remove();
  };
  const timer = setTimeout(end, KEPT);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await undo();
      end();
    } catch (error) {
      setText(words, error.message);
      button.disabled = false;
    }
  });
  document.getElementById("undos").append(notice);
}
