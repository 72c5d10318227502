// The relay's HTTP API, docs/api.md. Addresses are relative: the page works wherever the relay is.

/** An answer that is a problem: `message` is its detail, for people. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? `The relay answered with status ${status}.`);
    Object.assign(this, { status, code: body?.code, field: body?.field });
  }
}

/** The relay did not answer. */
export class Unreachable extends Error {
  constructor() {
    super("The relay does not answer. Is it running?");
  }
}

async function call(method, path, body) {
  let response;
  try {
    response = await fetch(path, { method, body: body && JSON.stringify(body), cache: "no-store" });
  } catch {
    throw new Unreachable();
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Problem(response.status, answer);
  return answer;
}

export const api = {
  /** Who the relay takes this page's user for. */
  who: () => call("GET", "auth"),
  logIn: (key) => call("POST", "auth/login", { key }),
  logOut: () => call("POST", "auth/logout"),
  broadcasts: async () => (await call("GET", "screencapture/broadcasts")).broadcasts,
  sessions: async () => (await call("GET", "screencapture")).sessions,
  session: (id) => call("GET", `screencapture/${id}`),
  startBroadcast: (body) => call("POST", "screencapture/broadcast/start", body),
  stopBroadcast: (device) => call("POST", "screencapture/broadcast/stop", { device }),
  startSession: (body) => call("POST", "screencapture/start", body),
  stopSession: (id) => call("POST", `screencapture/${id}/stop`),

  /** Why a WebSocket to the session is refused; null when it is not. */
  async refusal(id) {
    try {
      await call("GET", `screencapture/${id}/ws`);
    } catch (error) {
      return error.code === "upgrade_required" ? null : error;
    }
    return null;
  },

  /** Why a stream of the session is refused; null when it is not. */
  async streamRefusal(id, name) {
    const end = new AbortController();
    try {
      const response = await fetch(`screencapture/${id}/${name}`, { cache: "no-store", signal: end.signal });
      return response.ok ? null : new Problem(response.status, await response.json().catch(() => null));
    } catch {
      return new Unreachable();
    } finally {
      end.abort();
    }
  },
};

/** The address of a session's stream of that scheme and name. */
export function address(scheme, id, name) {
  const url = new URL(`screencapture/${id}/${name}`, document.baseURI);
  url.protocol = scheme === "ws" ? (url.protocol === "https:" ? "wss:" : "ws:") : url.protocol;
  return url.href.split("#")[0];
}
