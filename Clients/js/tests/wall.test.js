// The wall's connection, with sockets that the tests drive.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Relay, RelayError, Wall } from "../heliograph.js";

globalThis.CustomEvent ??= class extends Event {
  constructor(type, { detail }) {
    super(type);
    this.detail = detail;
  }
};

/** Runs `body` with a wall and its sockets. The relay answers each plain call with `refusal`. */
async function withWall(refusal, body) {
  const sockets = [];
  const former = globalThis.WebSocket;
  globalThis.WebSocket = class {
    static OPEN = 1;
    constructor(address) {
      Object.assign(this, { address, readyState: 0, sent: [] });
      sockets.push(this);
    }

    send(text) {
      this.sent.push(JSON.parse(text));
    }

    close() {
      this.readyState = 3;
    }

    opens() {
      this.readyState = 1;
      this.onopen();
    }

    says(message) {
      this.onmessage({ data: message instanceof ArrayBuffer ? message : JSON.stringify(message) });
    }
  };
  const relay = new Relay("http://relay.test/farm/");
  relay.request = async () => {
    throw refusal;
  };
  const wall = new Wall(relay);
  const states = [];
  wall.addEventListener("state", ({ detail }) => states.push(detail.state));
  try {
    await body(wall, sockets, states);
  } finally {
    wall.close();
    globalThis.WebSocket = former;
  }
}

/** Collects what a wall tells. */
function told(wall, type) {
  const details = [];
  wall.addEventListener(type, ({ detail }) => details.push(detail));
  return details;
}

const upgrade = new RelayError("upgrade_required", "It is a WebSocket.", 426);
const unreachable = new RelayError("unreachable", "The relay does not answer.");
const settled = () => new Promise((done) => setTimeout(done, 5));

test("the sessions to show are sent when the connection opens, and again after it was lost", async () => {
  await withWall(upgrade, async (wall, sockets, states) => {
    wall.show([3, 4], { width: 160, interval: 1 });
    wall.connect();
    assert.equal(sockets[0].address, "ws://relay.test/farm/v1/wall");
    assert.deepEqual(sockets[0].sent, []);
    sockets[0].opens();
    assert.deepEqual(sockets[0].sent, [{ type: "show", sessions: [3, 4], width: 160, interval: 1 }]);
    wall.show([9]);
    assert.deepEqual(sockets[0].sent[1], { type: "show", sessions: [9] });
    sockets[0].onclose({ code: 1001 });
    await settled();
    assert.deepEqual(states, ["connecting", "connected", "interrupted"]);
    wall.connect();
    sockets[1].opens();
    assert.deepEqual(sockets[1].sent, [{ type: "show", sessions: [9] }]);
  });
});

test("no more sessions are asked for than a wall may have", async () => {
  await withWall(upgrade, (wall, sockets) => {
    wall.connect();
    sockets[0].opens();
    wall.show(Array.from({ length: 300 }, (_, place) => place + 1));
    assert.equal(sockets[0].sent[0].sessions.length, 256);
    assert.equal(sockets[0].sent[0].sessions[255], 256);
  });
});

test("pictures, dark sessions and events are told apart", async () => {
  await withWall(upgrade, async (wall, sockets) => {
    const [pictures, dark, events] = ["picture", "dark", "event"].map((type) => told(wall, type));
    wall.connect();
    sockets[0].opens();
    sockets[0].says(Uint8Array.of(0, 1, 0, 2, 0xff, 0xd8, 7).buffer);
    sockets[0].says({ type: "dark", session: 5 });
    sockets[0].says({ type: "event", event: { type: "session.ended", session: 5 } });
    sockets[0].says({ type: "later", session: 5 });
    assert.equal(pictures.length, 1);
    assert.equal(pictures[0].session, 65_538);
    assert.equal(pictures[0].picture.type, "image/jpeg");
    assert.deepEqual(new Uint8Array(await pictures[0].picture.arrayBuffer()), Uint8Array.of(0xff, 0xd8, 7));
    assert.deepEqual(dark, [{ session: 5 }]);
    assert.deepEqual(events, [{ type: "session.ended", session: 5 }]);
  });
});

test("a relay that does not answer is tried again by itself", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  await withWall(unreachable, async (wall, sockets, states) => {
    const reports = told(wall, "state");
    wall.connect();
    sockets[0].onclose({ code: 1006 });
    await new Promise(setImmediate);
    assert.deepEqual(states, ["connecting", "interrupted"]);
    assert.deepEqual([reports[1].text, reports[1].error], [unreachable.message, unreachable]);
    context.mock.timers.tick(499);
    assert.equal(sockets.length, 1);
    context.mock.timers.tick(1);
    assert.equal(sockets.length, 2);
    sockets[1].onclose({ code: 1006 });
    await new Promise(setImmediate);
    context.mock.timers.tick(999);
    assert.equal(sockets.length, 2);
    context.mock.timers.tick(1);
    assert.equal(sockets.length, 3);
  });
});

test("a caller that the relay refuses is not tried again until the page asks", async () => {
  await withWall(new RelayError("missing_key", "A key is missing.", 401), async (wall, sockets, states) => {
    wall.connect();
    sockets[0].onclose({ code: 1006 });
    await settled();
    assert.deepEqual(states, ["connecting", "refused"]);
    assert.equal(wall.timer, undefined);
    wall.connect();
    sockets[1].opens();
    assert.equal(wall.state, "connected");
  });
});

test("a wall that is closed while it asks why stays closed", async () => {
  await withWall(unreachable, async (wall, sockets, states) => {
    wall.connect();
    sockets[0].onclose({ code: 1006 });
    wall.close();
    await settled();
    assert.deepEqual(states, ["connecting", "closed"]);
    assert.equal(sockets.length, 1);
  });
});
