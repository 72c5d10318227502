// Buttons that copy a text.

import { element, setText } from "./dom.js";

/** How long a button says that it has copied, ms. */
const SHOWN = 2000;

/**
 * Makes a button that copies the text of an element or a field beside it.
 *
 * @param {HTMLElement} source
 * @param {string} what What the text is, for people who do not see where the button is.
 */
export function copyButton(source, what) {
  const said = element("span", { text: "Copy", role: "status" });
  let timer;
  const say = (text) => {
    clearTimeout(timer);
    setText(said, text);
    timer = setTimeout(() => setText(said, "Copy"), SHOWN);
  };
  const click = async () => say((await copy(source)) ? "Copied" : "Select and copy it");
  return element("button", { type: "button", class: "copy", "aria-label": `Copy ${what}`, on: { click } }, said);
}

/** Copies an element's text, or at least selects it. Returns whether it is copied. */
async function copy(source) {
  try {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    return true;
  } catch {
    // Pages over HTTP have no clipboard, but may copy what is selected.
    if (source.select) source.select();
    else getSelection().selectAllChildren(source);
    return document.execCommand("copy");
  }
}

/** A text in a field of its own, with a button that copies it. */
export function copiedField(text, what) {
  const shown = element("input", { readOnly: true, value: text, "aria-label": what, on: { focus: () => shown.select() } });
  return element("div", { class: "copied" }, shown, copyButton(shown, what));
}
