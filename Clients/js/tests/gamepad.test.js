import assert from "node:assert/strict";
import { test } from "node:test";
import { GamepadLink, gamepadMessage } from "../gamepad.js";

const hex = (buffer) => Buffer.from(buffer).toString("hex");
const pad = (pressed = [], axes = [0, 0, 0, 0], values = {}) => ({
  id: "Pad (Vendor: 054c)",
  index: 0,
  connected: true,
  mapping: "standard",
  axes,
  buttons: [...Array(18).keys()].map((index) => ({ pressed: pressed.includes(index), value: values[index] ?? (pressed.includes(index) ? 1 : 0) })),
});

test("messages have the bytes of docs/reference/websocket.md", () => {
  assert.equal(hex(gamepadMessage.connect("any")), "10000000");
  assert.equal(hex(gamepadMessage.connect("dualsense")), "10020000");
  assert.equal(hex(gamepadMessage.disconnect()), "12000000");
  const state = hex(gamepadMessage.state(pad([0, 17], [-1, 1, 0.5, 0], { 6: 0.5 })));
  assert.equal(state, `11000000${"00020001"}${"8000"}${"7fff"}${"4000"}${"0000"}${"80"}${"00"}${"00".repeat(22)}`);
  assert.equal(hex(gamepadMessage.state(pad([], [Number.NaN, 7]))).slice(16, 24), "00007fff");
});

test("after a refusal, it waits for a second before it connects again", () => {
  withLink([pad()], (link, sent) => {
    link.look(0);
    link.refused({ reason: "rate" }, 8);
    assert.deepEqual(sent.map((message) => message.slice(0, 2)), ["10", "11"]);
    link.refused({ reason: "no_gamepad" }, 16);
    for (let now = 32; now < 1016; now += 16) link.look(now);
    assert.equal(sent.length, 3);
    link.look(1016);
    assert.deepEqual(sent.slice(2).map((message) => message.slice(0, 2)), ["12", "10", "11"]);
  });
});

/** Runs `body` with a link whose control records what is sent, and a browser with these gamepads. */
function withLink(gamepads, body) {
  const former = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: { getGamepads: () => gamepads }, configurable: true });
  const sent = [];
  const control = { relay: { input: { gamepads: ["xbox", "dualsense"] } }, send: (message) => sent.push(hex(message)) };
  try {
    body(new GamepadLink(control), sent, control);
  } finally {
    if (former) Object.defineProperty(globalThis, "navigator", former);
    else delete globalThis.navigator;
  }
}

test("a gamepad is connected, its changes are sent at once, and a sign of life each 500 ms", () => {
  const gamepads = [null, { ...pad(), index: 1 }];
  withLink(gamepads, (link, sent) => {
    link.look(0);
    assert.equal(link.name, "Pad");
    assert.equal(sent[0], "10020000");
    assert.equal(sent.length, 2);
    link.look(16);
    assert.equal(sent.length, 2);
    gamepads[1] = { ...pad([0]), index: 1 };
    link.look(32);
    assert.equal(sent.length, 3);
    link.look(500);
    assert.equal(sent.length, 3);
    link.look(532);
    assert.equal(sent[3], sent[2]);
    gamepads[1] = null;
    link.look(548);
    assert.equal(sent[4], "12000000");
    assert.equal(link.name, undefined);
  });
});

test("without a gamepad that the device can have, or with another mapping, nothing is sent", () => {
  withLink([{ ...pad(), mapping: "" }], (link, sent) => {
    link.look(0);
    assert.deepEqual(sent, []);
  });
  withLink([pad()], (link, sent, control) => {
    control.relay.input.gamepads = [];
    link.look(0);
    assert.deepEqual(sent, []);
  });
});

test("rumble is played until the desktop ends it", () => {
  const played = [];
  const vibrationActuator = {
    playEffect: async (kind, { strongMagnitude, weakMagnitude }) => void played.push([kind, strongMagnitude, weakMagnitude]),
    reset: async () => void played.push("reset"),
  };
  const gamepad = { ...pad(), vibrationActuator };
  withLink([gamepad], (link) => {
    link.look(0);
    link.told({ gamepad: "xbox", detail: null, strong: 65535, weak: 0 });
    assert.equal(link.type, "xbox");
    assert.deepEqual(played, [["dual-rumble", 1, 0]]);
    link.look(link.playedAt + 4001);
    assert.equal(played.length, 2);
    link.told({ gamepad: "xbox", detail: null, strong: 0, weak: 0 });
    assert.equal(played[2], "reset");
    link.told({ gamepad: null, detail: "no /dev/uinput", strong: 0, weak: 0 });
    assert.equal(link.problem, "no /dev/uinput");
    assert.equal(played.length, 3);
  });
});
