// What happens, as it happens: GET /v1/events, docs/reference/api.md.

import { RelayError } from "./errors.js";
import { pauseAfter } from "./pauses.js";

/** After how long without a byte the connection counts as lost, ms. The relay sends a comment every 15 s. */
const longestSilence = 45_000;

/** Iterates over a response's body, which not every browser does by itself. */
async function* pieces(body) {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Passes pieces on, and calls `lost` if none comes for `longestSilence`. */
async function* watched(pieces, lost) {
  let timer = setTimeout(lost, longestSilence);
  try {
    for await (const piece of pieces) {
      clearTimeout(timer);
      timer = setTimeout(lost, longestSilence);
      yield piece;
    }
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Takes server-sent events apart (WHATWG HTML, 9.2.6). A block without data also counts: it may change the id.
 *
 * @param {AsyncIterable<Uint8Array>} pieces
 * @returns {AsyncGenerator<{ id: string | undefined, event: string | undefined, data: string | undefined }>}
 */
export async function* serverSentEvents(pieces) {
  const decoder = new TextDecoder();
  let [text, fields, id] = ["", {}, undefined];
  for await (const piece of pieces) {
    text += decoder.decode(piece, { stream: true });
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    text = lines.pop();
    for (const line of lines) {
      if (line === "") {
        id = fields.id ?? id;
        if (Object.keys(fields).length > 0) yield { id, event: fields.event, data: fields.data };
        fields = {};
      } else if (!line.startsWith(":")) {
        const [, name, value] = /^([^:]*):? ?(.*)$/s.exec(line);
        fields[name] = name === "data" && fields.data !== undefined ? `${fields.data}\n${value}` : value;
      }
    }
  }
}

/** Whether another attempt may help. */
const isPassing = (error) => !(error instanceof RelayError) || error.code === "unreachable" || error.status >= 500;

function sleep(milliseconds, signal) {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener("abort", end);
  });
}

/**
 * Yields the relay's events, through losses of the connection. The first connection must succeed.
 *
 * @param {import("./relay.js").Relay} relay
 * @returns {AsyncGenerator<RelayEvent, void>}
 */
export async function* listen(relay, { types = [], device, session, after, signal }) {
  const query = { types: types.join(","), device, session };
  let [last, failures, wasConnected] = [after, 0, false];
  while (!signal?.aborted) {
    const connection = new AbortController();
    const end = () => connection.abort();
    signal?.addEventListener("abort", end);
    try {
      const headers = last ? { "Last-Event-ID": last } : {};
      const { body } = await relay.request("GET", "v1/events", { query, headers, signal: connection.signal });
      wasConnected = true;
      for await (const { id, data } of serverSentEvents(watched(pieces(body), end))) {
        failures = 0;
        last = id ?? last;
        if (data !== undefined) yield { id: id ?? null, ...JSON.parse(data) };
      }
    } catch (error) {
      if (signal?.aborted) return;
      if (!wasConnected || !isPassing(error)) throw error;
    } finally {
      signal?.removeEventListener("abort", end);
      end();
    }
    failures += 1;
    await sleep(pauseAfter(failures), signal);
  }
}

/**
 * @typedef {object} RelayEvent
 * @property {string | null} id Continues `events` by its option `after`.
 * @property {string} type
 * @property {string} at
 * @property {string | null} device
 * @property {number | null} session
 * @property {string | null} name
 * @property {string | null} state
 */
