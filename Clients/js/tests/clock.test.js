import assert from "node:assert/strict";
import { test } from "node:test";

import { RelayClock } from "../clock.js";

test("the clock goes by the question with the shortest way, give or take half of that", () => {
  // The relay is 5000 ms ahead. Each question takes some ms there and some back; the shortest way is 3 and 1.
  const clock = new RelayClock();
  const ways = [[9, 90], [40, 2], [30, 30], [3, 1], [50, 50], [2, 9], [80, 1], [6, 6]];
  let [now, asked] = [100, clock.ask(100)];
  for (const [there, back] of ways) {
    assert.equal(clock.local(7e9), null);
    const relay = (now + there + 5000) * 1e6;
    assert.equal(clock.answered(asked - 1, relay + 1e12, now), null, "an answer to an older question");
    now += there + back;
    asked = clock.answered(asked, relay, now);
  }
  assert.equal(asked, null);
  assert.equal(clock.answered(8, 0, now + 1), null, "an answer after the last one");
  const offset = -5001;
  assert.equal(clock.error, 2);
  assert.equal(clock.local(7e9), 7000 + offset);
  assert.equal(clock.relay(2001), (2001 - offset) * 1e6);
});
