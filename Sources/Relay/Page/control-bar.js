// What the page shows about acting on the screen: the button that begins it, who controls, and a bar of keys.

import { element, setText } from "./dom.js";

/** Keys that browsers or their desktops keep for themselves. */
const keptKeys = [
  ["Esc", "Escape"], ["Tab", "Tab"], ["Ctrl+W", "Control", "w"], ["Ctrl+T", "Control", "t"], ["Alt+Tab", "Alt", "Tab"],
  ["Super", "Meta"], ["F11", "F11"], ["Ctrl+Alt+Del", "Control", "Alt", "Delete"],
];
/** Keys that can be held for the next ones. */
const heldKeys = [["Ctrl", "Control"], ["Alt", "Alt"], ["Shift", "Shift"]];
/** The longest text that is typed from the clipboard, in characters. */
const longestPaste = 32_768;

/** Asks for a text to type, for browsers that do not let the page read the clipboard. */
function askForText(done, closed) {
  const field = element("textarea", { name: "text", rows: 6, required: true });
  const dialog = element(
    "dialog",
    { "aria-labelledby": "paste-title", on: { close: () => { dialog.remove(); closed(); } } },
    element(
      "form",
      {
        method: "dialog",
        // The browser's own form would go nowhere: the page forbids that.
        on: { submit: (event) => { event.preventDefault(); const text = field.value; dialog.close(); done(text); } },
      },
      element("h2", { text: "Type a text", id: "paste-title" }),
      element("div", { class: "fields" }, element("label", {}, "Text", field, element("small", { text: "Paste it here." }))),
      element(
        "div",
        { class: "actions" },
        element("button", { type: "button", text: "Cancel", on: { click: () => dialog.close() } }),
        element("button", { type: "submit", class: "main", text: "Type" }),
      ),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}

export class ControlBar {
  /** @param {HTMLElement} stage What holds the picture. */
  constructor(stage) {
    this.stage = stage;
    this.held = new Map();
    this.toggle = element("button", { type: "button", class: "main", text: "Control", hidden: true, on: { click: () => this.clicked() } });
    this.status = element("p", { role: "status" });
    this.badge = element("span", { class: "badge who", hidden: true });
    this.gamepad = element("p", { class: "quiet", role: "status", hidden: true });
    this.speech = element("p", { class: "quiet", role: "status", hidden: true });
    this.problem = element("p", { class: "quiet", role: "status", hidden: true });
    // A click must leave the focus where keys go.
    const button = (text, click, properties = {}) =>
      element("button", { type: "button", tabIndex: -1, on: { pointerdown: keepFocus, mousedown: keepFocus, click }, ...properties }, text);
    const keepFocus = (event) => event.preventDefault();
    const holding = heldKeys.map(([text, key]) => {
      const node = button(text, () => this.hold(key), { "aria-pressed": "false" });
      this.held.set(key, node);
      return node;
    });
    const keys = keptKeys.map(([text, ...keys]) => button(text, () => this.press(keys)));
    this.keyboard = button("Keyboard", () => this.control.toggleKeyboard(), { title: "Shows or hides the on-screen keyboard" });
    this.paste = button("Paste", () => this.pasteText(), { title: "Types the text of this machine's clipboard" });
    this.lock = button("Lock pointer", () => this.control.lockPointer(), { title: "Sends movement, as games need. Esc unlocks." });
    this.pointer = button("Show my pointer", () => this.control.show(this.control.cursor === "local" ? "remote" : "local"), { "aria-pressed": "false" });
    this.speak = button("Speak", () => this.toggleSpeech(), { "aria-pressed": "false" });
    this.leave = button("Stop", () => this.control.stop());
    this.bar = element(
      "div",
      { class: "control-bar", hidden: true },
      element("div", { class: "controls" }, this.status, this.leave),
      element("div", { class: "keys-row", role: "toolbar", "aria-label": "Keys" }, ...holding, ...keys),
      element("div", { class: "keys-row", role: "toolbar", "aria-label": "Pointer and text" }, this.keyboard, this.paste, this.lock, this.pointer, this.speak),
      this.gamepad,
      this.speech,
    );
    stage.append(this.badge);
  }

  /** @param {import("./control.js").Control} control */
  attach(control) {
    this.control = control;
    control.addEventListener("change", () => this.show());
    control.gamepad.addEventListener("change", () => this.showGamepad());
    control.speech.addEventListener("change", () => this.showSpeech());
    control.addEventListener("refused", ({ detail }) => this.say(`Not done: ${detail.detail}.`));
    this.show();
  }

  show() {
    const { control } = this;
    const { relay, state, reason } = control;
    const isOn = state === "on";
    this.stage.classList.toggle("controlling", isOn);
    this.bar.hidden = !isOn;
    const way = control.isLocked ? "Esc unlocks the pointer." : "Hold Esc for 1 s to stop.";
    setText(this.status, isOn ? `You control this screen. ${way}` : "");
    const isOthers = relay.controller !== null && !relay.mine;
    setText(this.toggle, state === "asking" ? "Asking…" : isOthers ? "Take over control" : "Control");
    this.toggle.hidden = isOn;
    this.toggle.disabled = state === "asking" || !control.isPossible;
    this.toggle.title = this.obstacle();
    setText(this.badge, isOthers ? `${control.controllerName} controls${relay.speaker === null ? "" : " and speaks"}` : "");
    this.badge.hidden = !isOthers;
    this.pointer.setAttribute("aria-pressed", String(control.cursor === "local"));
    this.lock.setAttribute("aria-pressed", String(control.isLocked));
    for (const node of this.held.values()) if (!isOn) node.setAttribute("aria-pressed", "false");
    this.say(isOn ? "" : reason);
    this.showSpeech();
  }

  showSpeech() {
    const { relay, speech } = this.control;
    this.speak.hidden = !relay.microphone;
    this.speak.disabled = speech.obstacle !== "";
    this.speak.title = speech.obstacle || "Programs of the desktop hear this machine's microphone";
    this.speak.setAttribute("aria-pressed", String(speech.state !== "off"));
    const what = { off: speech.problem, starting: "Asking for the microphone…", on: "The desktop hears your microphone." }[speech.state];
    setText(this.speech, what);
    this.speech.hidden = what === "";
  }

  toggleSpeech() {
    const { speech } = this.control;
    if (speech.state === "off") speech.start();
    else speech.stop();
  }

  showGamepad() {
    const { name, type, problem } = this.control.gamepad;
    const what = problem || { xbox: "The desktop sees an Xbox 360 pad.", dualsense: "The desktop sees a DualSense." }[type] || "";
    setText(this.gamepad, [`Gamepad: ${name}.`, what].filter(Boolean).join(" "));
    this.gamepad.hidden = name === undefined;
  }

  /** Why control is not possible; empty if it is. */
  obstacle() {
    const { relay } = this.control;
    if (!relay.may) return relay.why ?? "";
    if (relay.input === null) return "The device is not captured, or its agent has not said how it can act.";
    return this.control.isPossible ? "" : relay.input.problem ?? "";
  }

  say(text) {
    setText(this.problem, text);
    this.problem.hidden = text === "";
  }

  clicked() {
    const { relay } = this.control;
    this.control.start(relay.controller !== null && !relay.mine);
  }

  hold(key) {
    const node = this.held.get(key);
    const isDown = node.getAttribute("aria-pressed") !== "true";
    node.setAttribute("aria-pressed", String(isDown));
    this.control.hold(key, isDown);
  }

  press(keys) {
    this.control.press(...keys);
    this.letGo();
  }

  /** Releases the keys that are held for the next one. */
  letGo() {
    for (const [key, node] of this.held) if (node.getAttribute("aria-pressed") === "true") this.hold(key);
  }

  async pasteText() {
    const { control } = this;
    this.letGo();
    // Asking for permission may take the focus.
    control.pause();
    try {
      const text = await navigator.clipboard.readText();
      control.resume();
      this.type(text);
    } catch {
      askForText((text) => { control.resume(); this.type(text); }, () => control.resume());
    }
  }

  type(text) {
    if (text.length > longestPaste) return this.say(`The text has ${text.length} characters; at most ${longestPaste} are typed.`);
    this.control.type(text);
  }
}
