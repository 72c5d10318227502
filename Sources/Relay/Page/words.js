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

/** Why the relay closes the connection of a player that fell behind, and what helps. docs/websocket.md */
const closures = {
  stalled: "The relay closed the connection because this page took no pictures for too long. A page that sleeps or hangs does that, and so does a network that is gone.",
  slow: "The relay closed the connection because this page was too slow for the pictures for too long. A lower bit rate or fewer pictures a second help.",
  memory: "The relay closed the connection because its viewers together held too much of its memory, and this page most. A lower bit rate helps.",
};

/** Why a player's connection has ended: in words, and whether they are worth keeping in sight when it is back. */
export function closureText(code, reason) {
  if (closures[reason]) return [closures[reason], true];
  if (code === 1001) return ["The session or the relay has ended.", false];
  if (code === 1013) return ["The session is full or has ended.", false];
  if (code >= 1002 && code <= 1009 && code !== 1006) return [`The relay did not understand this page (${code} ${reason}). Load the page again.`, true];
  return ["The connection broke off.", false];
}

/** What a viewer must know of where the pictures come from: text, whether it is bad, and what it means; null when all is well. */
export function feedBadge({ feed, stale, asleep }, kind) {
  if (asleep) return ["Asleep", false, "This session is encoded only while somebody watches, and wakes for who does."];
  if (stale) return ["Stale: no new pictures", true, "No pictures of the screen come any more: what is shown is of before, or says so. It goes on by itself when the screen is back."];
  if (feed === "none") return ["No pictures", true, "No picture of the screen has come yet."];
  if (feed === "standby") return ["Screenshot mode", false, "There is no screencast at the moment: pictures are single screenshots until it is back."];
  if (["screenshot", "wlr-screencopy", "x11"].includes(kind)) return ["Screenshot mode", false, "This device is captured by single screenshots."];
  return null;
}

export function milliseconds(value) {
  if (value == null || Number.isNaN(value)) return "–";
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}
