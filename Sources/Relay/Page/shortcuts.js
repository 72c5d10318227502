// Single keys that do something, and the switch that turns them off (WCAG 2.1.4).

import { isTyping } from "./dom.js";
import { remember, remembered } from "./memory.js";

let areOn = remembered("shortcuts") !== "off";

/** Returns whether a pressed key is for the page: not for a field or a dialog, and not switched off. */
export function isShortcut(event) {
  return (areOn || event.key.length > 1) && !isTyping(event);
}

/** Returns whether the space bar presses or opens what has the focus. */
export function isForButton(event) {
  return event.key === " " && Boolean(event.target.closest?.("a, button, summary, input"));
}

/** Makes the dialog that lists the shortcuts open by its button and by ?, and its checkbox switch them. */
export function offerShortcuts(dialog, button) {
  const box = dialog.querySelector("input[type=checkbox]");
  box.checked = areOn;
  box.addEventListener("change", () => {
    areOn = box.checked;
    remember("shortcuts", areOn ? "on" : "off");
  });
  button.addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    if (event.key === "?" && isShortcut(event)) dialog.showModal();
  });
}
