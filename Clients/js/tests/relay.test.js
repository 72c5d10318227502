// Against a relay whose default device shows the test pattern: HELIOGRAPH_RELAY says where it is.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createServer } from "node:http";
import { deflateSync } from "node:zlib";

import { Relay, RelayError, WaitError } from "../heliograph.js";

const relay = new Relay();
const device = relay.device();
const screen = [0, 0, 1280, 720];

/** Runs `body` with a session, and ends it. */
async function withSession(name, settings, body) {
  const session = device.session(name);
  const report = await session.put(settings);
  try {
    await body(session, report);
  } finally {
    await session.delete();
  }
}

/** A PNG picture of one pixel: red, green, blue, alpha. */
function png(...pixel) {
  const chunk = (kind, data) => {
    const bytes = Buffer.concat([Buffer.from(kind), data]);
    let crc = ~0;
    for (const byte of bytes) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(~crc >>> 0);
    return Buffer.concat([length, bytes, sum]);
  };
  const head = chunk("IHDR", Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 6, 0, 0, 0]));
  const data = chunk("IDAT", deflateSync(Buffer.from([0, ...pixel])));
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), head, data, chunk("IEND", Buffer.alloc(0))]);
}

before(() => device.start());
after(() => device.stop());

test("devices are listed, and say how they do", async () => {
  assert.deepEqual((await relay.devices()).map(({ device, state }) => [device, state]), [["default", "live"]]);
  assert.equal((await device.get()).source.state, "streaming");
  assert.equal((await relay.who()).role, "operator");
});

test("a session is started, changed, listed and ended by its name", async () => {
  await withSession("door", { fps: 10 }, async (door, { id, fps }) => {
    assert.equal(fps, 10);
    assert.equal((await door.put({ fps: 5 })).id, id);
    assert.equal((await door.change({ fps: 6 })).fps, 6);
    assert.equal((await relay.session(id).get()).name, "door");
    const listed = await relay.sessions({ device: "default", name: "door", brief: true });
    assert.deepEqual(listed.map(({ name }) => name), ["door"]);
    assert.equal(listed[0].counters, undefined);
  });
  assert.deepEqual(await relay.sessions(), []);
  assert.deepEqual(await device.session("door").delete(), { stopped: 0 });
});

test("a session without a name has an id", async () => {
  const { id } = await relay.startSession({ fps: 10 });
  const session = relay.session(id);
  await session.wait("static", { for: 0 });
  assert.equal((await session.keyframe()).id, id);
  await session.stop();
  await assert.rejects(session.get(), { code: "unknown_session", status: 404 });
});

test("a snapshot is a Blob, in PNG or JPEG", async () => {
  await withSession("door", {}, async (door) => {
    await door.wait("static", { for: 0 });
    const picture = await door.snapshot();
    assert.equal(picture.type, "image/png");
    assert.equal(Buffer.from(await picture.arrayBuffer()).toString("latin1", 1, 4), "PNG");
    assert.equal((await door.snapshot({ format: "jpg", fresh: false, use: false })).type, "image/jpeg");
  });
});

test("a wait tells what changed, and rejects with the outcome if it does not happen", async () => {
  await withSession("door", {}, async (door) => {
    const { outcome, box } = await door.wait("changed", { region: screen, timeout: 20 });
    assert.equal(outcome, "happened");
    assert.ok(box.width > 0);
    // A box that the relay told is a region as well.
    await door.wait("changed", { region: box, share: 0, tolerance: 1 });
    await assert.rejects(door.wait("static", { for: 5, timeout: 0.5, tolerance: 1 }), (error) => {
      assert.ok(error instanceof WaitError);
      assert.match(error.message, /"static".*timeout/);
      return error.outcome === "timeout" && error.answer.name === "door";
    });
    await door.wait("static", { for: 0.5, ignore: [screen] });
    await assert.rejects(door.wait("sttaic"), { code: "unknown_value", field: "until" });
  });
});

test("a wait ends when its signal says so", async () => {
  await withSession("door", {}, async (door) => {
    const wait = door.wait("static", { for: 60, tolerance: 1, timeout: 60, signal: AbortSignal.timeout(200) });
    await assert.rejects(wait, { name: "TimeoutError" });
  });
});

test("a template is found where it is", async () => {
  const { bytes } = await device.putTemplate("dot", png(255, 0, 128, 255));
  assert.ok(bytes > 0);
  assert.deepEqual((await device.templates()).map(({ name }) => name), ["dot"]);
  await withSession("door", {}, async (door) => {
    await door.wait("gone", { template: "dot", at: [0, 0] });
    await door.wait("matches", { template: "dot", at: [0, 0], tolerance: 255 });
    await assert.rejects(door.wait("matches", { template: "nothing", at: [0, 0] }), { code: "unknown_template" });
  });
  await device.deleteTemplate("dot");
  assert.deepEqual(await device.templates(), []);
});

test("a device's own address is that of its session shared", async () => {
  await assert.rejects(device.snapshot(), { code: "unknown_session" });
  await withSession("shared", {}, async () => {
    await device.wait("static", { for: 0 });
    assert.ok((await device.snapshot()).size > 1000);
  });
});

test("events come as they happen, and end with the signal", async () => {
  const end = new AbortController();
  const seen = [];
  const listening = (async () => {
    for await (const event of relay.events({ types: ["session"], device: "default", after: "00-0", signal: end.signal })) {
      seen.push([event.type, event.name]);
      if (event.type === "session.ended" && event.name === "events") end.abort();
    }
  })();
  await withSession("events", {}, () => {});
  await listening;
  const own = seen.filter(([, name]) => name === "events").map(([type]) => type);
  assert.equal(own[0], "session.started");
  assert.equal(own.at(-1), "session.ended");
});

test("events go on after the connection is lost, from the last one seen", async () => {
  // A relay that ends each connection after one event.
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.headers["last-event-id"]);
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(`id: a-${asked.length}\ndata: {"type":"keys.changed"}\n\n`, () => {
      if (asked.length === 2) response.end();
      else response.destroy();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const other = new Relay(`http://127.0.0.1:${server.address().port}/prefix?x#y`);
  const seen = [];
  for await (const { id } of other.events()) {
    seen.push(id);
    if (seen.length === 3) break;
  }
  assert.deepEqual(seen, ["a-1", "a-2", "a-3"]);
  assert.deepEqual(asked, [undefined, "a-1", "a-2"]);
  assert.equal(other.address("/v1/sessions", { name: "a b", none: undefined }), `${other.url}v1/sessions?name=a+b`);
  server.close();
  server.closeAllConnections();
});

test("actions on a device without a desktop are refused", async () => {
  await withSession("door", {}, async () => {
    const options = { session: "door" };
    for (const act of [
      () => device.click(1, 2, options),
      () => device.doubleClick(1, 2, options),
      () => device.tap(1, 2, options),
      () => device.drag([1, 2], [3, 4], { duration: 0, ...options }),
      () => device.swipe([1, 2], [3, 4], { duration: 0, ...options }),
      () => device.scroll(1, 2, { dy: 120, ...options }),
      () => device.type("text"),
      () => device.press("ctrl+a"),
      () => device.actions([{ type: "key", id: "k", actions: [{ type: "keyDown", value: "a" }] }]),
    ]) {
      await assert.rejects(act(), { code: "no_input", status: 409 });
    }
    for (const use of [() => device.clipboard({ take: true }), () => device.clipboardImage(), () => device.setClipboard("é")]) {
      await assert.rejects(use(), { code: "no_input", status: 409 });
    }
    await assert.rejects(device.setClipboard(new Uint8Array([1])), { code: "bad_content", status: 400 });
    await assert.rejects(device.press("ctrl+nokey"), { status: 400 });
    await device.release();
  });
});

test("errors say what is wrong", async () => {
  await assert.rejects(device.session("door").put({ fps: 1000 }), (error) => {
    assert.ok(error instanceof RelayError);
    return error.code === "out_of_range" && error.status === 400 && error.field === "fps" && /1000/.test(error.message);
  });
  const nowhere = new Relay("http://127.0.0.1:9", { key: "none" });
  await assert.rejects(nowhere.devices(), { code: "unreachable", status: 0 });
  await assert.rejects(nowhere.events().next(), { code: "unreachable" });
  await assert.rejects(relay.call("GET", "v1/nothing"), { code: "unknown_route", status: 404 });
});

test("a key goes to no other machine in the clear", () => {
  for (const url of ["http://192.0.2.1:8420", "http://127.example:8420"]) {
    assert.throws(() => new Relay(url, { key: "secret" }), (error) => error.code === "insecure" && !/secret/.test(error.message));
  }
  for (const url of ["http://localhost:1", "http://[::1]:1", "http://127.0.0.1:1", "https://wall:8420"]) new Relay(url, { key: "secret" });
});
