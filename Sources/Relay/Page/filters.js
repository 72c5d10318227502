// Which devices the wall shows: those that match a text, a label and a state.

/** The states to filter by, and what they are called. */
export const stateNames = [["live", "Live"], ["off", "Off"], ["busy", "Starting or paused"], ["bad", "Lost or away"]];

/** What `broadcastState` calls good, busy, bad or nothing, as a state to filter by. */
const states = { good: "live", busy: "busy", bad: "bad", "": "off" };

/** Returns the filters of an address's query. */
export function parseFilters(query) {
  const fields = new URLSearchParams(query);
  const state = fields.get("state") ?? "";
  return {
    text: fields.get("q") ?? "",
    label: fields.get("label") ?? "",
    state: stateNames.some(([value]) => value === state) ? state : "",
  };
}

/** Returns the query of filters, with its question mark; empty if all devices are shown. */
export function filterQuery({ text, label, state }) {
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries({ q: text.trim(), label, state })) if (value) fields.set(name, value);
  const query = fields.toString();
  return query ? `?${query}` : "";
}

/**
 * Returns whether a device matches: each word of the text is in its name, a label or a session's name.
 *
 * @param {{ text: string, label: string, state: string }} filters
 * @param {{ broadcast: object, sessions: object[] }} device
 * @param {string} mood What `broadcastState` calls the device's state.
 */
export function matches({ text, label, state }, { broadcast, sessions }, mood) {
  if (state && state !== states[mood]) return false;
  const labels = labelTexts(broadcast);
  if (label && !labels.includes(label)) return false;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return true;
  const names = sessions.flatMap((session) => [session.name, session.label]);
  const found = [broadcast.device, ...labels, ...names].filter(Boolean).join("\n").toLowerCase();
  return words.every((word) => found.includes(word));
}

/** Returns a device's labels as texts NAME=VALUE, by name. */
export function labelTexts({ labels = {} }) {
  return Object.keys(labels).sort().map((name) => `${name}=${labels[name]}`);
}

/** Returns all labels that devices have, in order. */
export function allLabels(broadcasts) {
  return [...new Set(broadcasts.flatMap(labelTexts))].sort();
}
