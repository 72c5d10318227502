// Acts on the screen that a player shows: pointer, touches, keyboard, text.

import { GamepadLink } from "./gamepad.js";
import { encodedDistance, encodedPoint, input } from "./input.js";
import { keysym } from "./keysyms.js";
import { Speech } from "./speech.js";

/** Between two movements that are sent, ms. */
const moveInterval = 8;
/** Between two signs of life while controlling, ms. */
const beatInterval = 500;
/** How long Escape must be held to end control, ms. */
const escapeTime = 1000;
/** How long the focus may take to return from a dialog, ms. */
const focusTime = 500;
/** How long to wait for the relay's answer, ms. */
const answerTime = 3000;
/** Messages of text that the relay takes at once, and how long each following one takes, ms. */
const [textsAtOnce, textTime] = [7, 4200];
/** In the hidden field, so that deleting backwards has something to delete. */
const filler = "\u200b\u200b";
/** The bits of `MouseEvent.buttons`, and the button of each. */
const buttonBits = [[1, 0], [4, 1], [2, 2], [8, 3], [16, 4]];
/** Pixels of a line and of a page, by `WheelEvent.deltaMode`. */
const wheelUnits = [1, 40, 800];
/** Returns what is known without a connection. */
const nothing = (why) => ({ may: false, why, mine: false, controller: null, input: null, microphone: false, speaker: null });
/** Returns a text without the control characters that no key makes. */
const typable = (text) => text.replace(/\r\n?/g, "\n").replace(/[\0-\x08\x0b-\x1f\x7f-\x9f]/g, "");
/** A notch of a wheel, in pixels, and how long a part of one is kept, ms. */
const [notch, wheelRestTime] = [120, 1000];
/** Keys that stay what they are while the character keys change. */
const modifiers = ["Shift", "Control", "Alt", "Meta", "OS"];

/**
 * Lets a person act on a player's screen.
 *
 * Control begins with a click on the picture or with `start`. It ends with Escape held for a second, `stop`, and
 * whenever the page loses the focus. The click that begins it is not sent.
 *
 * Its event `change` comes when a property below has changed; `refused` has the relay's reason as its `detail`.
 */
export class Control extends EventTarget {
  /**
   * @param {import("./player.js").Player} player
   * @param {object} [options]
   * @param {boolean} [options.label] Whether it puts a frame and a line of text on the picture while it controls.
   *   Default: true. Pages that say `false` must show that themselves.
   */
  constructor(player, { label = true } = {}) {
    super();
    this.player = player;
    this.canvas = player.canvas;
    this.hasLabel = label;
    /** `off`, `asking` the relay, or `on`. @type {"off" | "asking" | "on"} */
    this.state = "off";
    /** What the relay says, docs/reference/websocket.md#control. */
    this.relay = nothing("The relay is not connected.");
    /** Why control was not given, or has ended; empty if all is well. */
    this.reason = "";
    /** Which pointer is shown over the picture: the `remote` one in it, or the `local` one. */
    this.cursor = "remote";
    this.keys = new Map();
    this.contacts = new Map();
    this.buttons = 0;
    this.pauses = 0;
    /** The gamepad of this machine that the device has. */
    this.gamepad = new GamepadLink(this);
    /** What speaks to the device's microphone. */
    this.speech = new Speech(this);
    this.makeField();
    this.listeners = this.listen();
  }

  /** Whether asking for control makes sense. */
  get isPossible() {
    const { may, input, microphone } = this.relay;
    return may && (microphone || input !== null && (input.backend !== "none" || input.gamepads?.length > 0));
  }

  /** Whether it goes on although its field does not have the focus. */
  get isPaused() {
    return this.pauses > 0;
  }

  /** Asks for control. Call it in a handler of a click or a key. @param {boolean} [takes] Also from another caller. */
  start(takes = false) {
    if (this.state !== "off" || !this.isPossible) return;
    this.state = "asking";
    this.reason = "";
    // Only within the click may the field get the focus everywhere.
    this.field.focus({ preventScroll: true });
    this.send(input.claim(takes));
    this.answerTimer = setTimeout(() => this.ended("The relay did not answer."), answerTime);
    this.changed();
  }

  /** Ends control. */
  stop() {
    if (this.state === "off") return;
    this.send(input.leave());
    this.ended("");
  }

  /** Removes what it has added to the page. */
  close() {
    this.stop();
    this.listeners.abort();
    this.field.remove();
  }

  /** Types a text. Long ones take a while: about 1000 characters a second. */
  async type(text) {
    if (this.state !== "on") return;
    const since = this.began;
    let sent = 0;
    for (const message of input.text(typable(text))) {
      if (sent >= textsAtOnce) await new Promise((done) => setTimeout(done, textTime));
      if (this.state !== "on" || this.began !== since) return;
      this.send(message);
      sent += 1;
    }
  }

  /** Presses keys together and releases them. @param {string[]} keys As in `KeyboardEvent.key`. */
  press(...keys) {
    if (this.state !== "on") return;
    const keysyms = keys.map((key) => keysym(key));
    for (const each of keysyms) this.send(input.key(each, true));
    for (const each of keysyms.reverse()) this.send(input.key(each, false));
  }

  /** Holds a key, or releases it. @param {string} key As in `KeyboardEvent.key`. */
  hold(key, isDown) {
    if (this.state === "on") this.send(input.key(keysym(key), isDown));
  }

  /** Sends the pointer's movement instead of its place, as games need. Call it in a handler of a click. */
  lockPointer() {
    if (this.state === "on") this.canvas.requestPointerLock?.();
  }

  get isLocked() {
    return document.pointerLockElement === this.canvas;
  }

  /** Shows or hides the on-screen keyboard of a device that has one. Call it in a handler of a click. */
  toggleKeyboard() {
    this.field.inputMode = this.field.inputMode === "none" ? "text" : "none";
    // A keyboard appears when its field gets the focus.
    this.pauses += 1;
    this.field.blur();
    this.field.focus({ preventScroll: true });
    this.pauses -= 1;
  }

  /** @param {"local" | "remote"} cursor */
  show(cursor) {
    this.cursor = cursor;
    this.mark();
    this.changed();
  }

  /** Keeps control while another element has the focus, such as a dialog. What is held is released. */
  pause() {
    this.pauses += 1;
    this.releaseKeys();
    this.send(input.release());
  }

  /** Ends a pause. Control goes on when all have ended. */
  resume() {
    this.pauses = Math.max(0, this.pauses - 1);
    if (this.isPaused || this.state !== "on") return;
    this.field.focus({ preventScroll: true });
    // A dialog of the browser gives the focus back a little later, or the person has gone elsewhere.
    setTimeout(() => this.state === "on" && !this.isPaused && !document.hasFocus() && this.stop(), focusTime);
  }

  // The relay's side

  /** Takes in an event of the relay. */
  told(event) {
    if (event.type === "hello") {
      // Another connection: the relay has released everything of the former one.
      this.ended(this.state === "off" ? this.reason : "The connection was lost.");
    } else if (event.type === "refused") {
      this.refused(event);
    } else if (event.type === "gamepad") {
      this.gamepad.told(event);
    } else if (event.type === "control") {
      this.relay = event;
      if (event.mine && this.state === "asking") this.begin();
      else if (!event.mine && this.state === "on") this.ended(event.ended === "taken" ? `${this.controllerName} has taken control.` : "Control has ended.");
      else this.changed();
    }
  }

  /** Records that there is no connection, and why. */
  cut(why = "The relay is not connected.") {
    this.relay = nothing(why);
    this.ended(this.state === "off" ? this.reason : "The connection was lost.");
  }

  get controllerName() {
    const { controller } = this.relay;
    return controller === "local" ? "A local program" : controller ?? "Another caller";
  }

  refused({ reason, detail }) {
    this.gamepad.refused({ reason });
    this.speech.refused({ reason, detail });
    if (this.state === "asking") {
      return this.ended(reason === "controlled" ? `${this.controllerName} controls this device.` : detail);
    }
    this.dispatchEvent(new CustomEvent("refused", { detail: { reason, detail } }));
  }

  begin() {
    clearTimeout(this.answerTimer);
    this.state = "on";
    this.began = performance.now();
    this.beat = setInterval(() => this.send(input.beat()), beatInterval);
    this.gamepad.start();
    this.field.value = filler;
    this.mark();
    // The focus may have gone while the relay was asked.
    if (!document.hasFocus() || document.activeElement !== this.field) return this.stop();
    this.changed();
  }

  /** @param {string} reason Why, for people; empty if the person wanted it. */
  ended(reason) {
    clearTimeout(this.answerTimer);
    clearTimeout(this.escapeTimer);
    clearTimeout(this.moveTimer);
    clearInterval(this.beat);
    this.gamepad.stop();
    this.speech.stop();
    this.moveTimer = this.nextMove = undefined;
    this.keys.clear();
    this.contacts.clear();
    this.buttons = 0;
    this.state = "off";
    this.reason = reason;
    this.pauses = 0;
    if (this.isLocked) document.exitPointerLock();
    this.field.inputMode = "none";
    this.mark();
    this.changed();
    if (document.activeElement === this.field) this.field.blur();
  }

  send(message) {
    this.player.stream?.sendInput(message);
  }

  changed() {
    this.dispatchEvent(new CustomEvent("change"));
  }

  // The page's side

  /** Makes the field that gets keys, and the text of input methods and on-screen keyboards. */
  makeField() {
    this.field = document.createElement("textarea");
    Object.assign(this.field, { tabIndex: -1, inputMode: "none", spellcheck: false, autocapitalize: "off" });
    this.field.setAttribute("autocomplete", "off");
    this.field.setAttribute("autocorrect", "off");
    this.field.setAttribute("aria-label", "Keys go to the screen. Hold Escape for one second to stop.");
    Object.assign(this.field.style, {
      position: "absolute", width: "1px", height: "1px", opacity: "0", border: "0", padding: "0", resize: "none",
      pointerEvents: "none",
    });
    this.canvas.after(this.field);
  }

  /** Shows on the picture whether it controls. */
  mark() {
    const isOn = this.state === "on";
    const { style } = this.canvas;
    this.canvas.toggleAttribute("data-controlled", isOn);
    style.cursor = isOn && this.cursor === "remote" ? "none" : "";
    style.touchAction = isOn ? "none" : "";
    if (!this.hasLabel) return;
    style.outline = isOn ? "3px solid #e8590c" : "";
    style.outlineOffset = isOn ? "-3px" : "";
    this.label?.remove();
    this.label = undefined;
    if (!isOn) return;
    this.label = document.createElement("div");
    this.label.setAttribute("role", "status");
    this.label.textContent = "You control this screen. Hold Esc for 1 s to stop.";
    Object.assign(this.label.style, {
      position: "absolute", left: `${this.canvas.offsetLeft + 12}px`, top: `${this.canvas.offsetTop + 12}px`,
      padding: "4px 10px", borderRadius: "6px", background: "#e8590c", color: "#fff", font: "14px/1.4 system-ui, sans-serif",
      pointerEvents: "none",
    });
    this.canvas.after(this.label);
  }

  listen() {
    const listeners = new AbortController();
    const { signal } = listeners;
    const on = (target, types, listener) => {
      for (const type of types) target.addEventListener(type, listener, { signal, passive: false });
    };
    on(this.canvas, ["click"], () => this.start());
    on(this.canvas, ["pointerdown", "pointermove", "pointerup", "pointercancel"], (event) => this.pointer(event));
    on(this.canvas, ["lostpointercapture"], (event) => this.lostPointer(event));
    on(this.canvas, ["wheel"], (event) => this.wheel(event));
    on(this.canvas, ["contextmenu", "auxclick", "dragstart", "mousedown", "touchstart"], (event) => {
      // It would take the focus, or do what the browser does with such a click.
      if (this.state !== "off") event.preventDefault();
    });
    on(this.field, ["keydown"], (event) => this.keyDown(event));
    on(this.field, ["keyup"], (event) => this.keyUp(event));
    on(this.field, ["input"], (event) => this.edited(event));
    on(this.field, ["compositionend"], (event) => this.composed(event));
    on(this.field, ["paste", "drop"], (event) => event.preventDefault());
    on(this.field, ["blur"], () => this.lostFocus());
    on(window, ["blur"], () => this.lostFocus());
    on(window, ["pagehide"], () => this.stop());
    on(document, ["visibilitychange"], () => document.hidden && this.stop());
    on(document, ["pointerlockchange"], () => this.state === "on" && this.changed());
    return listeners;
  }

  lostFocus() {
    if (!this.isPaused) this.stop();
  }

  // Pointer and touches

  /** Returns where an event is in the encoded picture; `isInside` if the picture is shown there. */
  place({ clientX, clientY }) {
    const { width, height } = this.canvas;
    const { orientation = 0, geometry = 0 } = this.player.shown ?? {};
    const { left, top, scaleX, scaleY } = this.layout();
    const [u, v] = [(clientX - left) / scaleX, (clientY - top) / scaleY];
    const isInside = u >= 0 && v >= 0 && u < width && v < height;
    const clamped = (value, size) => Math.min(Math.max(value, 0), size - 1 / 65536);
    const point = encodedPoint(u, v, width, height, orientation);
    const [across, down] = orientation % 2 === 1 ? [height, width] : [width, height];
    return { x: clamped(point.x, across), y: clamped(point.y, down), geometry, isInside };
  }

  /** Returns where the picture's top left corner is, and the page's pixels for each of its own. */
  layout() {
    const { width, height } = this.canvas;
    const box = this.canvas.getBoundingClientRect();
    let [scaleX, scaleY] = [box.width / width, box.height / height];
    if (getComputedStyle(this.canvas).objectFit === "contain") scaleX = scaleY = Math.min(scaleX, scaleY);
    const left = box.left + (box.width - width * scaleX) / 2;
    const top = box.top + (box.height - height * scaleY) / 2;
    return { left, top, scaleX, scaleY };
  }

  pointer(event) {
    if (this.state !== "on") return;
    event.preventDefault();
    if (event.type === "pointerdown" && !this.isLocked) this.canvas.setPointerCapture(event.pointerId);
    if (event.pointerType === "touch" && this.relay.input?.touch) return this.touch(event);
    // Of several fingers, only the first is a pointer.
    if (!event.isPrimary) return;
    const place = this.isLocked ? { x: 0, y: 0, geometry: 0, isInside: true } : this.place(event);
    // A button that goes down while another one is held comes as a movement, too.
    if (event.type === "pointermove" && event.button === -1) return this.moved(event, place);
    const buttons = event.type === "pointercancel" ? 0 : event.buttons;
    for (const [bit, button] of buttonBits) {
      if ((buttons & bit) === (this.buttons & bit)) continue;
      const isDown = (buttons & bit) !== 0;
      if (isDown && !place.isInside) continue;
      // The button has its own place.
      if (!this.isLocked) this.nextMove = undefined;
      this.flushMove();
      this.buttons ^= bit;
      this.send(input.button(button, isDown, place));
    }
  }

  moved({ movementX, movementY }, place) {
    if (!this.isLocked) {
      if (place.isInside || this.buttons !== 0) this.later({ message: () => input.move(place) });
      return;
    }
    const { scaleX, scaleY } = this.layout();
    const { orientation = 0 } = this.player.shown ?? {};
    const step = encodedDistance(movementX / scaleX, movementY / scaleY, orientation);
    const { dx = 0, dy = 0 } = this.nextMove ?? {};
    this.later({ dx: dx + step.dx, dy: dy + step.dy, message: () => this.motion() });
  }

  /** Returns the message of the movement so far. What fixed-point numbers cannot say is left for the next one. */
  motion() {
    const { dx, dy } = this.nextMove;
    const { dx: restX = 0, dy: restY = 0 } = this.rest ?? {};
    const round = (value) => Math.round(value * 65536) / 65536;
    const [sentX, sentY] = [round(dx + restX), round(dy + restY)];
    this.rest = { dx: dx + restX - sentX, dy: dy + restY - sentY };
    return input.motion(sentX, sentY);
  }

  touch(event) {
    const phases = { pointerdown: "down", pointermove: "move", pointerup: "up", pointercancel: "cancel" };
    const phase = phases[event.type];
    const place = this.place(event);
    let id = this.contacts.get(event.pointerId);
    if (phase === "down") {
      const used = new Set(this.contacts.values());
      id = [...Array(10).keys()].find((id) => !used.has(id));
      if (id === undefined || !place.isInside) return;
      this.contacts.set(event.pointerId, id);
    }
    if (id === undefined) return;
    const contact = { id, phase, x: place.x, y: place.y };
    if (phase === "move") {
      const moved = this.nextMove?.contacts ?? new Map();
      moved.set(id, contact);
      return this.later({ contacts: moved, message: () => input.touch([...moved.values()], place.geometry) });
    }
    this.flushMove();
    if (phase !== "down") this.contacts.delete(event.pointerId);
    this.send(input.touch([contact], place.geometry));
  }

  lostPointer({ pointerId }) {
    const id = this.contacts.get(pointerId);
    if (id === undefined || this.state !== "on") return;
    this.contacts.delete(pointerId);
    this.send(input.touch([{ id, phase: "cancel", x: 0, y: 0 }], 0));
  }

  wheel(event) {
    if (this.state !== "on") return;
    event.preventDefault();
    const place = this.isLocked ? { x: 0, y: 0, geometry: 0, isInside: true } : this.place(event);
    if (!place.isInside) return;
    const unit = wheelUnits[event.deltaMode] ?? 1;
    const [dx, dy] = this.notches(event.deltaX * unit, event.deltaY * unit, event.timeStamp);
    if (dx === 0 && dy === 0) return;
    if (!this.nextMove?.wheel) this.flushMove();
    const before = this.nextMove?.wheel ?? { dx: 0, dy: 0 };
    const sum = (one, other) => Math.min(Math.max(one + other, -30000), 30000);
    const wheel = { dx: sum(before.dx, dx), dy: sum(before.dy, dy) };
    this.later({ wheel, message: () => input.scroll(wheel.dx, wheel.dy, place) });
  }

  /** Returns how far to scroll, in whole notches if the desktop knows no less. The rest is kept for the next ones. */
  notches(dx, dy, at) {
    if (this.relay.input?.smoothScroll) return [dx, dy];
    const isRecent = this.wheelRest && at - this.wheelRest.at < wheelRestTime;
    const rest = isRecent ? this.wheelRest : { dx: 0, dy: 0 };
    const part = (distance, before) => {
      // A wheel's own notch, which is a little longer or shorter in some browsers.
      if (Math.abs(distance) >= 0.8 * notch) return [Math.round(distance / notch) * notch, 0];
      const whole = Math.trunc((distance + before) / notch) * notch;
      return [whole, distance + before - whole];
    };
    const [[wholeX, restX], [wholeY, restY]] = [part(dx, rest.dx), part(dy, rest.dy)];
    this.wheelRest = { dx: restX, dy: restY, at };
    return [wholeX, wholeY];
  }

  /** Sends movement at once, or soon in place of what waits. */
  later(move) {
    this.nextMove = move;
    if (this.moveTimer === undefined) this.flushMove();
  }

  /** Sends movement that waits. */
  flushMove() {
    if (this.nextMove === undefined) return;
    this.send(this.nextMove.message());
    this.nextMove = undefined;
    clearTimeout(this.moveTimer);
    this.moveTimer = setTimeout(() => {
      this.moveTimer = undefined;
      this.flushMove();
    }, moveInterval);
  }

  // Keys and text

  keyDown(event) {
    if (this.state !== "on") return;
    // Keys of an input method, and of on-screen keyboards: their text comes by itself.
    if (event.isComposing || event.keyCode === 229) return;
    event.preventDefault();
    event.stopPropagation();
    // The desktop repeats keys that are held.
    if (event.repeat) return;
    if (event.key === "Escape") this.escapeTimer = setTimeout(() => this.stop(), escapeTime);
    if (event.key === "AltGraph") return this.releaseKey("ControlLeft");
    const isCharacter = [...event.key].length === 1;
    // A character of the third level is what it is, whatever keys made it.
    if (isCharacter && event.getModifierState("AltGraph")) return void this.type(event.key);
    const symbol = keysym(event.key, event.location);
    if (symbol === undefined) return;
    this.flushMove();
    this.send(input.key(symbol, true));
    // Without a code it cannot be matched with the key that goes up.
    if (event.code === "") this.send(input.key(symbol, false));
    else this.keys.set(event.code, { symbol, isModifier: modifiers.includes(event.key) });
  }

  keyUp(event) {
    if (this.state !== "on") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") clearTimeout(this.escapeTimer);
    this.releaseKey(event.code);
    // macOS tells no other key's release while Command is held.
    if (event.key === "Meta") for (const [code, { isModifier }] of this.keys) if (!isModifier) this.releaseKey(code);
  }

  releaseKey(code) {
    const key = this.keys.get(code);
    if (!key) return;
    this.keys.delete(code);
    this.send(input.key(key.symbol, false));
  }

  releaseKeys() {
    clearTimeout(this.escapeTimer);
    for (const code of [...this.keys.keys()]) this.releaseKey(code);
  }

  edited(event) {
    if (event.isComposing) return;
    const keys = { insertLineBreak: "Enter", insertParagraph: "Enter", deleteContentBackward: "Backspace", deleteContentForward: "Delete" };
    if (this.state === "on") {
      if (event.inputType === "insertText" && event.data) this.type(event.data);
      else if (Object.hasOwn(keys, event.inputType)) this.press(keys[event.inputType]);
    }
    this.field.value = filler;
  }

  composed({ data }) {
    if (this.state === "on" && data) this.type(data);
    // After the browser's own change.
    setTimeout(() => (this.field.value = filler));
  }
}
