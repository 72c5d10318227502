// The API's values as words for people.

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

/** Returns a broadcast's state in words, and whether it is good, busy or bad. */
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

/** Returns a notice about the pictures' source: text, whether it is bad, and an explanation; `null` if all is well. */
export function feedBadge({ feed, stale, asleep }, kind) {
  if (asleep) return ["Asleep", false, "This session is encoded only while it is watched. It wakes when a viewer comes."];
  if (stale) return ["Stale: no new pictures", true, "No new pictures of the screen arrive. You see the last one, or a notice. The stream resumes when the screen is back."];
  if (feed === "none") return ["No pictures", true, "No picture of the screen has arrived yet."];
  if (feed === "standby") return ["Screenshot mode", false, "There is no screencast at the moment: pictures are single screenshots until it is back."];
  if (["screenshot", "wlr-screencopy", "x11"].includes(kind)) return ["Screenshot mode", false, "This device is captured by single screenshots."];
  return null;
}

export function milliseconds(value) {
  if (value == null || Number.isNaN(value)) return "–";
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}
