// What the API says, in words.

export const sourceNames = {
  auto: "the desktop",
  portal: "the desktop, by its portal",
  mutter: "GNOME's screen",
  node: "a PipeWire node",
  screenshot: "screenshots",
  "wlr-screencopy": "screenshots",
  x11: "screenshots of X",
  "test-pattern": "the test pattern",
};

/** A broadcast's state: words, and whether it is good, busy or bad. */
export function broadcastState({ state, source }) {
  switch (state) {
    case "idle": return ["Off", ""];
    case "starting": return ["Starting", "busy"];
    case "stopping": return ["Stopping", "busy"];
    case "away": return ["Away: its agent ended and is being restarted", "bad"];
    default: break;
  }
  switch (source.state) {
    case "streaming": return ["Live", "good"];
    case "paused": return ["Paused by the desktop", "busy"];
    case "lost": return ["Screen lost; trying again", "bad"];
    default: return ["Opening the screen", "busy"];
  }
}

export function sourceText({ kind, width, height }) {
  const name = sourceNames[kind] ?? kind;
  return width ? `${name}, ${width} × ${height}` : name;
}

export function bitrate(bits) {
  if (bits == null) return "–";
  return bits >= 1e6 ? `${(bits / 1e6).toFixed(bits < 1e7 ? 1 : 0)} Mbit/s` : `${Math.round(bits / 1e3)} kbit/s`;
}

export function sessionName({ id, label }) {
  return label || `Session ${id}`;
}

export function sessionText({ codec, width, height, fps, bitrate: bits }) {
  const size = width && height ? `${width} × ${height}` : "the screen's size";
  return `${codec === "h265" ? "H.265" : "H.264"} · ${size} · ${fps} fps · ${bitrate(bits)}`;
}

/** What a viewer must know of where the pictures come from: text and whether it is bad; null when all is well. */
export function feedBadge({ source, stale }, kind) {
  if (stale || source === "none") return [stale ? "Stale: no new pictures" : "No pictures", true];
  if (source === "screenshot" || ["screenshot", "wlr-screencopy", "x11"].includes(kind)) return ["Screenshot mode", false];
  return null;
}

export function milliseconds(value) {
  if (value == null || Number.isNaN(value)) return "–";
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}
