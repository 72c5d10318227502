import assert from "node:assert/strict";
import { test } from "node:test";

const rate = 48_000;
let Processor;
Object.assign(globalThis, {
  sampleRate: rate,
  currentTime: 0,
  AudioWorkletProcessor: class {
    port = { sent: [], postMessage: (message) => this.port.sent.push(message) };
  },
  registerProcessor: (name, processor) => (Processor = name === "heliograph-sound" ? processor : undefined),
});
await import("../sound-worklet.js");

/** Plays blocks, and returns the last one. */
function play(processor, blocks) {
  const output = [new Float32Array(128), new Float32Array(128)];
  for (let index = 0; index < blocks; index += 1) {
    processor.goesOn = processor.process([], [output]);
    globalThis.currentTime += 128 / rate;
  }
  return output;
}

test("the worklet plays what it gets, reports ten times a second, and ends", () => {
  const processor = new Processor();
  const tell = (data) => processor.port.onmessage({ data });
  play(processor, 100);
  assert.deepEqual(processor.port.sent, []);
  for (let index = 0; index < 25; index += 1) {
    tell({ type: "sound", pts: index * 20_000, left: new Float32Array(960).fill(0.5), right: new Float32Array(960).fill(-0.5) });
    const [left, right] = play(processor, 7 + (index % 2));
    if (index > 5) assert.ok(Math.abs(left[127] - 0.5) < 1e-6 && Math.abs(right[127] + 0.5) < 1e-6);
  }
  assert.ok([5, 6].includes(processor.port.sent.length), `${processor.port.sent.length} reports`);
  const { level, holes, dropped, delay, pts, time } = processor.port.sent.at(-1);
  assert.ok(Math.abs(level - 0.5) < 1e-6);
  assert.deepEqual([holes, dropped], [0, 0]);
  assert.ok(delay > 0.03 && delay < 0.08, `${delay}`);
  // The first packet came after 100 blocks, and is due 40 ms later.
  assert.ok(Math.abs(time - pts / 1e6 - (12_800 / rate + 0.04)) < 0.02, `${time} ${pts}`);
  tell({ type: "reset" });
  assert.deepEqual(play(processor, 1).map(([first]) => first), [0, 0]);
  assert.equal(processor.goesOn, true);
  tell({ type: "end" });
  play(processor, 1);
  assert.equal(processor.goesOn, false);
});
