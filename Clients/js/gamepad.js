// A gamepad of this machine, for the device that a page controls. docs/reference/websocket.md#gamepads

/** Between two looks at the gamepad, ms. */
const interval = 16;
/** Between two signs of life, ms: the agent releases everything after 2 s without one. */
const beatInterval = 500;
/** After a refusal, before the gamepad is connected again, ms. */
const patience = 1000;
/** The longest effect of browsers, ms, and after how long a lasting one is played again. */
const [longestRumble, rumbleAgain] = [5000, 4000];
/** Buttons whose bits are sent: the standard ones, then the touchpad's. */
const buttonCount = 18;
const numbers = { any: 0, xbox: 1, dualsense: 2 };

function message(size, kind, first = 0) {
  const view = new DataView(new ArrayBuffer(size));
  view.setUint8(0, kind);
  view.setUint8(1, first);
  return view;
}

/** Returns -1 to 1 as a whole number of 16 bits. */
function position(value = 0) {
  const inside = Math.min(Math.max(Number.isFinite(value) ? value : 0, -1), 1);
  return Math.round(inside < 0 ? inside * 32768 : inside * 32767);
}

const pull = (button) => Math.round(Math.min(Math.max(button?.value ?? 0, 0), 1) * 255);

/** Makes the messages. Each method returns an ArrayBuffer. */
export const gamepadMessage = {
  /** @param {"any" | "xbox" | "dualsense"} type What the desktop gets. */
  connect: (type) => message(4, 0x10, numbers[type] ?? 0).buffer,
  disconnect: () => message(4, 0x12).buffer,

  /** @param {Pick<Gamepad, "buttons" | "axes">} gamepad A standard one. */
  state({ buttons, axes }) {
    const view = message(40, 0x11);
    const bits = buttons.slice(0, buttonCount).reduce((bits, { pressed }, index) => (pressed ? bits + 2 ** index : bits), 0);
    view.setUint32(4, bits);
    for (let axis = 0; axis < 4; axis += 1) view.setInt16(8 + 2 * axis, position(axes[axis]));
    view.setUint8(16, pull(buttons[6]));
    view.setUint8(17, pull(buttons[7]));
    return view.buffer;
  },
};

const isSame = (one, other) => {
  const [a, b] = [new Uint8Array(one), new Uint8Array(other)];
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
};

/**
 * Gives a device the gamepad that is used on this machine, while `Control` controls the device.
 *
 * Browsers show a gamepad after the first press of a button. Its event `change` comes when a property has changed.
 */
export class GamepadLink extends EventTarget {
  /** @param {import("./control.js").Control} control */
  constructor(control) {
    super();
    this.control = control;
    /** What this machine calls the gamepad; `undefined` for none. @type {string | undefined} */
    this.name = undefined;
    /** What the device has: `xbox` or `dualsense`; `undefined` for nothing yet. @type {string | undefined} */
    this.type = undefined;
    /** When a gamepad may be connected, by `performance.now()`. */
    this.notBefore = 0;
    /** Why the device has no gamepad, for people; empty if all is well. */
    this.problem = "";
  }

  /** Begins to look for a gamepad. */
  start() {
    this.timer ??= setInterval(() => this.look(performance.now()), interval);
  }

  /** Ends it. */
  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    if (this.index !== undefined) this.leave();
  }

  /** Takes in the relay's event `gamepad`. */
  told(event) {
    if (this.index === undefined) return;
    this.type = event.gamepad ?? undefined;
    this.problem = event.detail ?? "";
    this.rumble = { strongMagnitude: event.strong / 65535, weakMagnitude: event.weak / 65535 };
    this.play(performance.now());
    this.dispatchEvent(new CustomEvent("change"));
  }

  /** Takes in the relay's event `refused`: the device has no gamepad of this viewer. */
  refused({ reason }, now = performance.now()) {
    if (this.index === undefined || (reason !== "no_gamepad" && reason !== "no_input")) return;
    this.leave();
    this.notBefore = now + patience;
  }

  /** Sends what has changed. */
  look(now) {
    if (now < this.notBefore) return;
    const types = this.control.relay.input?.gamepads ?? [];
    const all = typeof navigator.getGamepads === "function" && types.length > 0 ? [...navigator.getGamepads()] : [];
    const isUsable = (gamepad) => gamepad?.connected && gamepad.mapping === "standard";
    const gamepad = isUsable(all[this.index]) ? all[this.index] : all.find(isUsable);
    if (gamepad?.index !== this.index && this.index !== undefined) this.leave();
    if (!gamepad) return;
    if (this.index === undefined) this.join(gamepad, types);
    this.gamepad = gamepad;
    const state = gamepadMessage.state(gamepad);
    if (this.sent === undefined || !isSame(state, this.sent) || now - this.sentAt >= beatInterval) {
      this.control.send(state);
      [this.sent, this.sentAt] = [state, now];
    }
    if (this.isRumbling && now - this.playedAt >= rumbleAgain) this.play(now);
  }

  join(gamepad, types) {
    this.index = gamepad.index;
    this.name = gamepad.id.replace(/\s*\(.*\)\s*$/, "") || gamepad.id;
    const isSony = /054c|dualsense|dualshock/i.test(gamepad.id);
    this.control.send(gamepadMessage.connect(isSony && types.includes("dualsense") ? "dualsense" : "any"));
    this.dispatchEvent(new CustomEvent("change"));
  }

  leave() {
    this.control.send(gamepadMessage.disconnect());
    this.rumble = undefined;
    this.play(performance.now());
    Object.assign(this, { index: undefined, name: undefined, type: undefined, problem: "", sent: undefined, gamepad: undefined });
    this.dispatchEvent(new CustomEvent("change"));
  }

  /** Plays what the desktop's applications want, until they want something else. */
  play(now) {
    const actuator = this.gamepad?.vibrationActuator;
    const { strongMagnitude = 0, weakMagnitude = 0 } = this.rumble ?? {};
    const wasRumbling = this.isRumbling === true;
    this.isRumbling = strongMagnitude > 0 || weakMagnitude > 0;
    this.playedAt = now;
    // A browser without rumble, or a gamepad that is gone, has nothing to play.
    const done = this.isRumbling
      ? actuator?.playEffect?.("dual-rumble", { duration: longestRumble, strongMagnitude, weakMagnitude })
      : wasRumbling && actuator?.reset?.();
    if (done) done.catch(() => {});
  }
}
