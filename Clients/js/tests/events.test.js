import assert from "node:assert/strict";
import { test } from "node:test";

import { serverSentEvents } from "../events.js";

async function* pieces(bytes, size) {
  for (let place = 0; place < bytes.length; place += size) yield bytes.subarray(place, place + size);
}

const text = ": events\n\nid: a-1\nevent: session.started\ndata: {\"name\":\"Tür\"}\n\n:\n\ndata: one\r\ndata:two\r\n\r\nid: a-2\n\nid: a-3\ndata: unfinished\n";

test("server-sent events are the same however their bytes are cut", async () => {
  const bytes = new TextEncoder().encode(text);
  for (let size = 1; size <= bytes.length; size += 1) {
    const found = [];
    for await (const event of serverSentEvents(pieces(bytes, size))) found.push(event);
    assert.deepEqual(found, [
      { id: "a-1", event: "session.started", data: '{"name":"Tür"}' },
      { id: "a-1", event: undefined, data: "one\ntwo" },
      { id: "a-2", event: undefined, data: undefined },
    ], `pieces of ${size} bytes`);
  }
});
