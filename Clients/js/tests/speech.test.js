import assert from "node:assert/strict";
import { test } from "node:test";
import { Speech, speechMessage } from "../speech.js";

const hex = (buffer) => Buffer.from(buffer).toString("hex");

/** A control that records what is sent and whether it is paused. */
function makeControl(microphone = true) {
  return {
    state: "on",
    relay: { microphone },
    sent: [],
    paused: 0,
    player: { stream: { waiting: 0 } },
    send(message) { this.sent.push(hex(message)); },
    pause() { this.paused += 1; },
    resume() { this.paused -= 1; },
  };
}

/** Runs `body` in a browser whose person answers as `getUserMedia` does. */
async function withBrowser(getUserMedia, body) {
  const former = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: { mediaDevices: { getUserMedia } }, configurable: true });
  globalThis.AudioEncoder = class {};
  try {
    await body();
  } finally {
    delete globalThis.AudioEncoder;
    if (former) Object.defineProperty(globalThis, "navigator", former);
    else delete globalThis.navigator;
  }
}

test("messages have the bytes of docs/reference/websocket.md", () => {
  assert.equal(hex(speechMessage()), "20000000");
  assert.equal(hex(speechMessage(2, (bytes) => bytes.set([1, 255]))), "2000000001ff");
});

test("a person who refuses is told so, and control goes on", async () => {
  const refusal = Object.assign(new Error("denied"), { name: "NotAllowedError" });
  await withBrowser(async () => { throw refusal; }, async () => {
    const control = makeControl();
    const speech = new Speech(control);
    await speech.start();
    assert.deepEqual([speech.state, speech.problem, control.paused], ["off", "The microphone was not allowed.", 0]);
    assert.deepEqual(control.sent, []);
  });
});

test("a microphone that is allowed after the person has stopped asking is closed, and a later question still waits", async () => {
  const answers = [];
  await withBrowser(() => new Promise((done) => answers.push(done)), async () => {
    const control = makeControl();
    const speech = new Speech(control);
    const first = speech.start();
    speech.stop();
    speech.start();
    let stopped = 0;
    answers[0]({ getTracks: () => [{ stop: () => (stopped += 1) }] });
    await first;
    assert.deepEqual([stopped, speech.state, control.paused], [1, "starting", 1]);
  });
});

test("without a microphone of the device, nobody is asked", async () => {
  await withBrowser(() => assert.fail("asked"), async () => {
    const speech = new Speech(makeControl(false));
    assert.match(speech.obstacle, /no microphone/);
    await speech.start();
    assert.equal(speech.state, "off");
  });
});

test("a refusal of the relay ends it, unless it is about something else", async () => {
  await withBrowser(() => new Promise(() => {}), async () => {
    const speech = new Speech(makeControl());
    speech.start();
    speech.refused({ reason: "rate", detail: "too much" });
    assert.equal(speech.state, "starting");
    speech.refused({ reason: "no_microphone", detail: "it is off" });
    assert.deepEqual([speech.state, speech.problem], ["off", "it is off."]);
  });
});
