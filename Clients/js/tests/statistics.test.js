import assert from "node:assert/strict";
import { test } from "node:test";

import { percentile, Statistics } from "../statistics.js";

test("a percentile is the value below which that share lies", () => {
  const values = [5, 1, 4, 2, 3];
  assert.equal(percentile(values, 0.5), 3);
  assert.equal(percentile(values, 0.95), 5);
  assert.ok(Number.isNaN(percentile([], 0.5)));
});

test("repeats and pictures of unknown instants count, and tell no latency", () => {
  const statistics = new Statistics();
  const picture = { pts: 1, data: new Uint8Array(10), captured: 100, encoded: 103, relayed: 104, received: 106 };
  for (const change of [{}, { pts: 2, repeat: true }, { pts: 3, captured: null }]) {
    statistics.received({ ...picture, ...change });
    statistics.presented({ ...picture, ...change }, 110);
  }
  assert.deepEqual(statistics.totals, { received: 3, bytes: 30, presented: 3, repeats: 1 });
  assert.equal(statistics.lastPTS, 3);
  assert.deepEqual(statistics.stages, { encode: [3], link: [1], network: [2], decode: [4] });
  assert.deepEqual(statistics.latency, { p50: 10, p95: 10 });
});
