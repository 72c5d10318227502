import assert from "node:assert/strict";
import { test } from "node:test";

import { closureText } from "../closures.js";

test("each way in which the relay ends a connection has words, which stay in sight if the page can do something", () => {
  // 1006 is the browser's: no Close came. The reason may have come before, as an event.
  const cases = [
    [1001, "", /has ended/, false],
    [1002, "frames of clients are masked", /1002 frames of clients are masked/, true],
    [1006, "", /broke off/, false],
    [1006, "stalled", /read no pictures/, true],
    [1008, "too many frames", /1008 too many frames/, true],
    [1013, "", /full or has ended/, false],
    [1013, "memory", /used too much memory/, true],
    [4001, "slow", /too slow/, true],
    [4001, "stalled", /read no pictures/, true],
  ];
  for (const [code, reason, words, isKept] of cases) {
    const [text, kept] = closureText(code, reason);
    assert.match(text, words);
    assert.equal(kept, isKept, `${code} ${reason}`);
  }
});
