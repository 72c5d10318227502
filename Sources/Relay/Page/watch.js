// Watching a device, and starting what that needs.

import { relay } from "./site.js";

/** How long what was started for a viewer stays without one, s. */
const TTL = 600;
/** How long a start may take, s: the desktop may ask a person for permission. */
const PATIENCE = 90;

/** Returns the session by which a device is watched: `shared`, else its first one. */
export function mainSession(sessions) {
  return sessions.find(({ name }) => name === "shared") ?? sessions[0];
}

/**
 * Starts the broadcast and the session `shared`, if they are missing. Both end by themselves.
 *
 * @param {{ device: string, state: string }} broadcast
 * @param {object[]} sessions The device's.
 * @returns {Promise<object>} The session to watch.
 */
export async function startWatching({ device, state }, sessions) {
  if (state === "idle") await relay.device(device).start({ ttl: TTL, timeout: PATIENCE });
  return mainSession(sessions) ?? relay.device(device).session("shared").put({ onDemand: true, ttl: TTL });
}
