// Where the page can be: the part of its address after the #.

/**
 * Returns what the page shows at a hash. Unknown hashes show the wall.
 *
 * @param {string} hash Such as `#/devices/left/shared`, or empty.
 * @returns {Place}
 */
export function parsePlace(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [kind, ...names] = path.split("/").map(decoded);
  const id = /^\d+$/.test(names[0] ?? "") ? Number(names[0]) : undefined;
  if (kind === "devices" && names[0]) return { view: "session", device: names[0], name: names[1] || "shared" };
  if (kind === "session" && id !== undefined) return { view: "session", id };
  if (kind === "library") return { view: "library", id };
  if (kind === "access") return { view: "access" };
  return { view: "wall", query };
}

/** Returns a text without its escapes; the text itself if they are broken. */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the hash at which a session is played: by its name, if it has one. */
export function sessionPlace({ id, device, name }) {
  return name ? `#/devices/${encodeURIComponent(device)}/${encodeURIComponent(name)}` : `#/session/${id}`;
}

/**
 * @typedef {object} Place
 * @property {"wall" | "session" | "library" | "access"} view
 * @property {number} [id] Of a session or of a recording.
 * @property {string} [device] With `name`: a session by its name.
 * @property {string} [name]
 * @property {string} [query] The wall's filters.
 */
