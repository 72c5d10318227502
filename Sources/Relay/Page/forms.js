// The dialogs that start a broadcast and a session, log in, change labels, and manage keys and the tunnel.

import { copiedField } from "./copy.js";
import { ask, choice, field } from "./dialog.js";
import { element, setText } from "./dom.js";
import { playsVideo } from "./heliograph.js";
import { labelChanges, labelLines } from "./labels.js";
import { sessionPlace } from "./places.js";
import { relay } from "./site.js";
import { localTime, recordTimes } from "./words.js";

/** Asks for the relay's key. The relay answers with a cookie that scripts cannot read. */
export function askForKey(done) {
  const key = element("input", { name: "key", type: "password", autocomplete: "current-password", required: true });
  ask(
    "This relay requires a key",
    "Log in",
    [field("Key", key)],
    async ({ key }) => {
      await relay.logIn(key.trim());
      await done();
    },
    "Its operator makes one with heliograph keys make. This browser stays logged in for 12 hours.",
  );
}

export function askForBroadcast(device) {
  const node = field("Node", element("input", { name: "node", autocomplete: "off" }), "name, serial or id");
  node.hidden = true;
  const kind = choice("kind", [
    ["", "the device's default"],
    ["auto", "the desktop"],
    ["portal", "the desktop, by its portal: shows a dialog"],
    ["mutter", "GNOME, without asking"],
    ["screenshot", "screenshots"],
    ["node", "a PipeWire node"],
    ["test-pattern", "the test pattern"],
  ]);
  kind.addEventListener("change", () => (node.hidden = kind.value !== "node"));
  ask(
    `Start ${device}`,
    "Start",
    [field("Capture", kind), node],
    async ({ kind, node }) => {
      const source = kind ? { kind, ...(kind === "node" ? { node } : {}) } : undefined;
      await relay.device(device).start({ timeout: 90, ...(source ? { source } : {}) });
    },
    "The desktop may show a dialog that asks for permission. The start waits up to 90 s for the answer.",
  );
}

/** After how many seconds out of use a session may end, and how they are called. */
const lifetimes = [[600, "10 minutes"], [3600, "1 hour"], [86_400, "1 day"], ["", "never"]];

export function askForSession(devices) {
  const number = (name, limits) => element("input", { name, type: "number", inputMode: "numeric", ...limits });
  const device = choice("device", devices.map((name) => [name, name]));
  const codec = choice("codec", [["h264", "H.264"], ["h265", "H.265"]]);
  const codecHint = element("small", { text: "H.264 plays everywhere" });
  playsVideo("h265", "420").then((plays) => {
    if (!plays) setText(codecHint, "this browser cannot decode H.265");
  });
  const chroma = choice("chroma", [["", "shared by four pixels"], ["444", "of each pixel"]]);
  const colours = field("Colours", chroma, "of each pixel: sharper coloured text");
  const offerColours = async () => {
    const wanted = codec.value;
    const plays = await playsVideo(wanted, "444");
    if (wanted !== codec.value) return;
    colours.hidden = !plays;
    if (!plays) chroma.value = "";
  };
  codec.addEventListener("change", offerColours);
  offerColours();
  const record = choice("recordWhen", [["", "nothing"], ...recordTimes]);
  const recordHint = element("small", { text: "you can change it later" });
  const hints = { always: "until the session ends", watched: "and 10 s longer", changed: "and 10 s longer" };
  record.addEventListener("change", () => setText(recordHint, hints[record.value] ?? "you can change it later"));
  const onDemand = choice("onDemand", [["true", "while it is used"], ["false", "always"]]);
  const fields = [
    devices.length > 1 ? field("Device", device) : null,
    field("Label", element("input", { name: "label", maxLength: 100, autocomplete: "off" }), "for people; may be empty"),
    element("label", {}, "Codec", codec, codecHint),
    colours,
    field("Frames per second", number("fps", { min: 1, max: 240, value: 30 })),
    field("Bitrate, Mbit/s", element("input", { name: "bitrate", type: "number", min: 0.05, max: 100, step: "any", value: 6 })),
    field("Bitrate follows", choice("adapt", [["", "nobody"], ["followSlowest", "the slowest viewer"], ["followFastest", "the fastest viewer"]]), "what their networks carry"),
    field("Encoder", element("input", { name: "encoder", value: "auto", maxLength: 64, autocomplete: "off" }), "auto, x264, h264_vaapi, …"),
    field("Width", number("width", { min: 16, max: 8192 }), "empty: the screen's"),
    field("Height", number("height", { min: 16, max: 8192 }), "empty: keeps the shape"),
    field("Encodes", onDemand, "viewers and snapshots use it"),
    field("Ends when unused for", choice("ttl", lifetimes)),
    element("label", { class: "records" }, "Record in the library", record, recordHint),
  ];
  ask("New session", "Start", fields.filter(Boolean), async (values) => {
    const body = { device: devices[0], ...values };
    for (const name of ["fps", "width", "height", "ttl"]) if (name in body) body[name] = Math.round(Number(body[name]));
    if ("bitrate" in body) body.bitrate = Math.round(Number(body.bitrate) * 1e6);
    body.onDemand = body.onDemand === "true";
    if ("recordWhen" in body) body.record = true;
    location.hash = sessionPlace(await relay.startSession(body));
  });
}

/**
 * Stops something, and asks before if others watch it.
 *
 * @param {string} what What ends.
 * @param {number} others How many others watch it.
 * @param {() => Promise<void>} stop
 */
export async function stopWith(what, others, stop) {
  if (others === 0) return stop();
  const who = others === 1 ? "1 other viewer watches" : `${others} other viewers watch`;
  ask(`Stop ${what}?`, "Stop", [], stop, `${who} it. Their pictures end.`);
}

/** Asks for a recording's labels, and calls `done` with what has to be set. */
export function askForLabels(labels, done) {
  const lines = labelLines(labels);
  const text = element("textarea", { name: "labels", rows: Math.max(lines.length + 1, 4), value: lines.map((line) => `${line}\n`).join(""), spellcheck: false });
  ask("Labels", "Save", [field("A line for each", text, "NAME=VALUE, such as build=42")], ({ labels: text = "" }) => done(labelChanges(labels, text)));
}

/** The rights in the library that a new key may have, besides those of its role. */
const libraryRights = [["none", "nothing"], ["look", "look"], ["look,record", "look and record"], ["look,delete", "look and delete"], ["look,record,delete", "all"]];

/**
 * Asks for a key's name and rights, and calls `done` with what the relay needs to make it.
 *
 * @param {string[]} devices Those that there are.
 * @param {boolean} isFirst Whether it turns access control on.
 * @param {(wish: object) => Promise<void>} done
 */
export function askForKeyToMake(devices, isFirst, done) {
  const name = element("input", { name: "name", maxLength: 64, pattern: "[A-Za-z0-9_\\-]+", required: true, autocomplete: "off" });
  ask(
    "Make a key",
    "Make",
    [field("Name", name, "letters, digits, - and _"), ...termFields(devices, isFirst)],
    ({ name, ...terms }) => done({ name, ...wishedTerms(terms) }),
    isFirst ? "From the first key on, every call needs one. If it is an operator's, this browser stays logged in with it." : undefined,
  );
}

/** Asks what the client may do that pairs next, and calls `done` with it. */
export function askToPair(devices, done) {
  ask("Pair a client", "Make a PIN", termFields(devices, false), (terms) => done(wishedTerms(terms)), "The PIN is good for two minutes and one guess.");
}

/** Returns the fields for what the holder of a key may do. */
function termFields(devices, isFirst) {
  const roles = [["viewer", "viewer: looks and watches"], ["controller", "controller: also acts on screens"], ["operator", "operator: also makes changes"]];
  const role = choice("role", isFirst ? roles.reverse() : roles);
  const device = choice("device", [["", "all"], ...devices.map((name) => [name, name])]);
  const library = choice("library", [["", "what the role has"], ...libraryRights]);
  const days = element("input", { name: "days", type: "number", min: 1, max: 3650, placeholder: "never" });
  const fields = [
    field("Role", role),
    devices.length > 1 ? field("Device", device, "the command can name several") : null,
    field("In the library", library),
    field("Ends after", days, "days"),
  ];
  return fields.filter(Boolean);
}

/** Returns what such fields say, as the API has it. */
function wishedTerms({ role, device, library, days }) {
  return {
    role,
    ...(device ? { devices: [device] } : {}),
    ...(library ? { library: library === "none" ? [] : library.split(",") } : {}),
    ...(days ? { days: Number(days) } : {}),
  };
}

/** What becomes of a PIN, in words. */
const pairingEnds = {
  paired: ({ name }) => `${name} has paired.`,
  wrong_pin: () => "A client did not know the PIN. It is burnt: make another one.",
  expired: () => "No client has paired in time.",
  failed: () => "A client knew the PIN, but was not kept: the relay's log says why.",
};

/** Shows a PIN for the client that pairs next, and what becomes of it. The PIN ends with the dialog. */
export function showPIN({ pin, until }) {
  const digits = element("p", { class: "pin", text: pin });
  const state = element("p", { class: "pairing", role: "status", text: "Waiting for the client…" });
  const dialog = ask("The PIN", "Done", [digits, state], undefined, `Good until ${localTime(until)}, for one guess. On the other machine, run heliograph pair with the address of this relay, and type it.`);
  let isOver = false;
  const look = async () => {
    try {
      const report = await relay.call("GET", "v1/pairing");
      isOver = !["armed", "pairing"].includes(report.state);
      if (isOver) setText(state, pairingEnds[report.state]?.(report) ?? "The PIN is no longer good.");
    } catch (error) {
      setText(state, error.message);
    }
    if (!isOver && dialog.open) setTimeout(look, 1000);
  };
  look();
  dialog.addEventListener("close", () => {
    if (!isOver) relay.call("DELETE", "v1/pairing").catch(() => {});
  });
}

/** Shows a key that was just made, the only time that it can be seen. */
export function showKey({ name, key }) {
  ask(`The key ${name}`, "Done", [copiedField(key, "The key")], undefined, "The relay keeps only its hash: copy it now. To call with it, send Authorization: Bearer and the key.");
}

/** Asks whether a key shall be revoked. */
export function askToRevoke(name, done) {
  ask(`Revoke ${name}?`, "Revoke", [], done, "Its calls are refused at once, and its connections end. It cannot be restored.");
}

/** Asks which tunnel to start, and calls `done` with it. */
export function askForTunnel(done) {
  const kind = choice("kind", [["quick", "a quick tunnel: Cloudflare chooses its address"], ["named", "a tunnel of your account"]]);
  const name = field("Name", element("input", { name: "name", maxLength: 64, pattern: "[A-Za-z0-9_][A-Za-z0-9_\\-]*", autocomplete: "off" }), "as cloudflared knows it");
  name.hidden = true;
  kind.addEventListener("change", () => (name.hidden = kind.value === "quick"));
  ask(
    "Start a tunnel",
    "Start",
    [field("Tunnel", kind), name],
    ({ kind, name }) => done(kind === "quick" ? "quick" : `named:${name ?? ""}`),
    "People with a key then reach this relay from the internet. It ends with the relay, or when you end it here.",
  );
}
