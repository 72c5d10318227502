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
    case "away": return ["Away: its agent is being started again", "bad"];
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

export function sessionName({ id, label, name }) {
  return label || name || `Session ${id}`;
}

/** Returns what a session shows, as a title: the device of a session `shared`, else the session. */
export function screenName(session) {
  const { device, name, label } = session;
  if (label || !name) return sessionName(session);
  return name === "shared" ? device : `${device} · ${name}`;
}

/** Returns how many viewers there are. */
export function viewersText(viewers) {
  return viewers === 1 ? "1 viewer" : `${viewers} viewers`;
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

/** Returns a rate such as 29.9. */
export function rate(value) {
  return Number.isFinite(value) ? value.toFixed(1) : "–";
}

export function milliseconds(value) {
  if (value == null || Number.isNaN(value)) return "–";
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;
}

/** When a recorded session is written: the values of `recordWhen`, and what they mean. */
export const recordTimes = [
  ["always", "everything"],
  ["watched", "while a viewer watches"],
  ["changed", "while the screen changes"],
];

/**
 * Returns a notice about a session's recording: text, and the class of its badge; empty if it is not recorded.
 *
 * @param {object} session Its report.
 * @param {boolean} [isBrief] Leaves out how long the file is, which no event tells.
 */
export function recordingText({ recording, recordWhen, viewers }, isBrief = false) {
  switch (recording?.state) {
    case undefined: return ["", ""];
    case "recording": return isBrief ? ["Recording", "recording"] : [`Recording: ${duration(recording.seconds)}, ${size(recording.bytes)}`, "recording"];
    case "waiting": return [`Recording waits for ${awaited(recordWhen, viewers)}`, "waiting"];
    case "disk_full": return ["Not recorded: the disk is full", "bad"];
    default: return ["Not recorded", "bad"];
  }
}

function awaited(recordWhen, viewers) {
  if (recordWhen === "changed") return "a change of the screen";
  return recordWhen === "watched" && !viewers ? "a viewer" : "a picture";
}

/** Returns a time such as 1:02:03. */
export function duration(seconds) {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (parts[0] === 0) parts.shift();
  return parts.map((part, place) => (place ? String(part).padStart(2, "0") : String(part))).join(":");
}

/** Returns a file's size, such as 4.5 MB. */
export function size(bytes) {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return bytes < 1e12 ? `${(bytes / 1e9).toFixed(2)} GB` : `${(bytes / 1e12).toFixed(2)} TB`;
}

/** Returns a time in a video, such as 1:02.50. */
export function exactTime(seconds) {
  const hundredths = Math.floor(seconds * 100 + 1e-6);
  return `${duration(Math.floor(hundredths / 100))}.${String(hundredths % 100).padStart(2, "0")}`;
}

/** Returns a date and a time of day, as people here write them. */
export function localTime(time) {
  return new Date(time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

/** Returns a recording's name: that of its session, its label, or the session's number; and which file of several. */
export function itemName({ name, labels, session, number }) {
  const part = number > 0 ? `, part ${number + 1}` : "";
  return `${name || labels.label || `Session ${session}`}${part}`;
}

const codecs = { avc1: "H.264", hvc1: "H.265", hev1: "H.265" };

export function itemText({ device, start, seconds, bytes, width, height, fps, tracks }) {
  const [codec] = tracks.map((track) => codecs[track.codec.split(".")[0]]).filter(Boolean);
  const facts = [
    `device ${device}`,
    localTime(start),
    duration(seconds),
    size(bytes),
    codec,
    width ? `${width} × ${height}` : "music",
    fps ? `${fps} fps` : null,
    width && tracks.some((track) => track.kind === "audio") ? "with sound" : null,
  ];
  return facts.filter(Boolean).join(" · ");
}

/** How the relay's tunnel is, after a sentence about the relay. @param {?object} tunnel As in GET /v1/auth. */
export function tunnelText(tunnel) {
  if (!tunnel) return "";
  if (tunnel.state === "down") return ". The tunnel is down";
  if (tunnel.state === "connecting") return ". The tunnel is connecting";
  return tunnel.address ? `, and by its tunnel at ${tunnel.address}` : ", and by its tunnel";
}

/** What the page says to callers that may not look at recordings. */
export const mayNotLook = "Your key does not have the right to look at recordings: log in with a key that has it.";

/** Returns by whose key a recording was begun; empty if by none. */
export function ownerText({ owner }) {
  return owner ? `Recorded by ${owner}` : "";
}

/** Returns how much space the library takes and has. */
export function usageText({ bytes, mostBytes, freeBytes }) {
  const taken = mostBytes ? `${size(bytes)} of ${size(mostBytes)}` : size(bytes);
  return `${taken} · ${size(freeBytes)} free on the disk`;
}

/** Returns the share of its space that the library takes, 0 to 1: of its limit, or of what it may still get. */
export function usageShare({ bytes, mostBytes, freeBytes }) {
  const most = mostBytes ?? bytes + freeBytes;
  return most > 0 ? Math.min(bytes / most, 1) : 0;
}

/** Returns why recordings pause; empty if the disk has room. */
export function usageProblem({ freeBytes, pausesBelow }) {
  if (freeBytes >= pausesBelow) return "";
  return `Recordings pause until ${size(pausesBelow)} is free on the disk. Delete recordings, or other files.`;
}

/** Returns what tells the files of a recording apart. */
export function partText({ number, start, seconds, bytes, width, height }) {
  return `Part ${number + 1}: ${localTime(start)} · ${duration(seconds)} · ${size(bytes)} · ${width} × ${height}`;
}

/** Returns a recording's state in words, the classes of its badge, and an explanation. */
export function itemState({ state }) {
  switch (state) {
    case "recording": return ["Recording", "recording", "It is being recorded."];
    case "complete": return ["Complete", "none", ""];
    case "interrupted": return ["Broke off", "", "It broke off, and the file could not be completed. What was written plays."];
    case "missing": return ["Missing", "bad", "The file of this recording is gone."];
    default: return [state, "", ""];
  }
}

/** Returns how many gaps there are, and how long they last together; empty if there are none. */
export function gapsText(gaps) {
  if (gaps.length === 0) return "";
  const seconds = gaps.reduce((sum, gap) => sum + gap.seconds, 0);
  return `${gaps.length} ${gaps.length === 1 ? "gap" : "gaps"}, ${seconds.toFixed(1)} s`;
}

const gapReasons = { source_lost: "no pictures came from the device", queue_full: "the relay's disk was too slow" };

export function gapText({ start, seconds, reason }) {
  return `At ${exactTime(start)} for ${seconds.toFixed(1)} s: ${gapReasons[reason] ?? reason}`;
}
