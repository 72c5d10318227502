// A dialog with a form.

import { element, setText } from "./dom.js";

export function field(label, control, hint) {
  return element("label", {}, label, control, hint ? element("small", { text: hint }) : null);
}

export function choice(name, options) {
  const select = element("select", { name });
  for (const [value, text] of options) select.append(element("option", { value, text }));
  return select;
}

/**
 * Shows a form until it is cancelled, or until `submit` has processed its values. Empty values are left out. Without
 * `submit` it only tells something.
 */
export function ask(title, verb, fields, submit, hint) {
  const wrong = element("p", { class: "wrong", role: "alert" });
  const go = element("button", { type: "submit", class: "main", text: verb });
  const cancel = element("button", { type: "button", text: "Cancel", on: { click: () => dialog.close() } });
  const form = element(
    "form",
    {},
    element("h2", { text: title, id: "form-title" }),
    element("div", { class: "fields" }, ...fields),
    hint ? element("p", { class: "quiet", text: hint }) : null,
    wrong,
    element("div", { class: "actions" }, submit ? cancel : null, go),
  );
  const dialog = element("dialog", { "aria-labelledby": "form-title", on: { close: () => dialog.remove() } }, form);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const values = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
    setText(wrong, "");
    go.disabled = true;
    setText(go, `${verb}…`);
    try {
      await submit?.(values);
      dialog.close();
    } catch (error) {
      setText(wrong, error.message);
    }
    setText(go, verb);
    go.disabled = false;
  });
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}
