// The list of devices and sessions.

import { element, isTyping, KeyedList, setText } from "./dom.js";
import { askForBroadcast, askForSession } from "./forms.js";
import { relay } from "./site.js";
import { Thumbnail } from "./thumbnail.js";
import { broadcastState, feedBadge, recordingText, sessionName, sessionText, sourceText } from "./words.js";

/** Runs a button's action. The button is disabled meanwhile, and errors are shown at `wrong`. */
async function run(button, wrong, action) {
  button.disabled = true;
  setText(wrong, "");
  try {
    await action();
  } catch (error) {
    setText(wrong, error.message);
  }
  button.disabled = false;
}

class DeviceCard {
  constructor({ device }, refresh) {
    this.state = element("p", { class: "state" });
    this.source = element("p", { class: "quiet" });
    this.detail = element("p", { class: "wrong" });
    this.wrong = element("p", { class: "wrong", role: "alert" });
    this.start = element("button", { type: "button", class: "main changes", text: "Start…", on: { click: () => askForBroadcast(device, refresh) } });
    this.stop = element("button", {
      type: "button",
      class: "changes",
      text: "Stop",
      on: { click: () => run(this.stop, this.wrong, () => relay.device(device).stop().then(refresh)) },
    });
    this.session = element("button", { type: "button", class: "changes", text: "New session…", on: { click: () => askForSession([device]) } });
    this.root = element(
      "article",
      { class: "card", "aria-label": `Device ${device}` },
      element("h2", { text: device }),
      this.state,
      this.source,
      this.detail,
      this.wrong,
      element("div", { class: "actions" }, this.start, this.stop, this.session),
    );
  }

  update(broadcast) {
    const [words, mood] = broadcastState(broadcast);
    setText(this.state, words);
    this.state.className = `state ${mood}`;
    const { sessions, viewers, source, restarts } = broadcast;
    const facts = [
      broadcast.state === "idle" ? `Would capture ${sourceText(source)}` : `Captures ${sourceText(source)}`,
      sessions ? `${sessions} ${sessions === 1 ? "session" : "sessions"}` : null,
      restarts ? `restarted ${restarts} times` : null,
    ];
    setText(this.source, facts.filter(Boolean).join(" · "));
    setText(this.detail, source.state === "streaming" ? "" : source.detail ?? "");
    this.start.hidden = broadcast.state !== "idle";
    this.stop.hidden = broadcast.state === "idle";
    this.viewers = viewers;
  }
}

class SessionCard {
  constructor(session, refresh) {
    const { id } = session;
    this.thumbnail = new Thumbnail(id, sessionName(session));
    this.badge = element("p", {}, element("span", { class: "badge" }));
    this.recording = element("p", {}, element("span", { class: "badge" }));
    this.facts = element("p", { class: "quiet" });
    this.more = element("p", { class: "quiet" });
    this.error = element("p", { class: "wrong" });
    this.wrong = element("p", { class: "wrong", role: "alert" });
    this.stop = element("button", {
      type: "button",
      class: "changes",
      text: "Stop",
      on: { click: () => run(this.stop, this.wrong, () => relay.session(id).stop().then(refresh)) },
    });
    this.root = element(
      "article",
      { class: "card session", "aria-label": sessionName(session) },
      this.thumbnail.root,
      element(
        "div",
        { class: "text" },
        element("h2", { text: sessionName(session) }),
        this.badge,
        this.recording,
        this.facts,
        this.more,
        this.error,
        this.wrong,
        element("div", { class: "actions" }, element("a", { class: "button main", href: `#/session/${id}`, text: "Watch" }), this.stop),
      ),
    );
  }

  update(session) {
    setText(this.facts, sessionText(session));
    const { viewers } = session;
    this.thumbnail.mayAsk = !session.onDemand || viewers > 0;
    const encoder = session.encoder ? ` · ${session.encoder}` : "";
    setText(this.more, `Device ${session.device} · ${viewers} ${viewers === 1 ? "viewer" : "viewers"}${encoder}`);
    const badge = feedBadge(session, session.kind);
    this.badge.hidden = badge === null;
    if (badge) {
      setText(this.badge.firstChild, badge[0]);
      this.badge.title = badge[2];
      this.badge.firstChild.className = badge[1] ? "badge bad" : "badge";
    }
    const [recording, kind] = recordingText(session);
    this.recording.hidden = !recording;
    setText(this.recording.firstChild, recording);
    this.recording.firstChild.className = `badge ${kind}`;
    this.recording.title = session.recording?.problem ?? "";
    setText(this.error, session.error ?? "");
  }

  end() {
    this.thumbnail.end();
  }
}

export class Overview {
  constructor(refresh) {
    this.devices = element("div", { class: "grid" });
    this.sessions = element("div", { class: "grid" });
    this.empty = element("p", { class: "empty", hidden: true });
    this.add = element("button", { type: "button", class: "changes", "aria-keyshortcuts": "N", on: { click: () => this.newSession() } }, "New session… ", element("kbd", { text: "N" }));
    this.root = element(
      "div",
      {},
      element("div", { class: "heading" }, element("h1", { text: "Sessions" }), this.add),
      this.empty,
      this.sessions,
      element("div", { class: "heading" }, element("h1", { text: "Devices" })),
      this.devices,
    );
    this.deviceCards = new KeyedList(this.devices, (broadcast) => broadcast.device, (broadcast) => new DeviceCard(broadcast, refresh));
    this.sessionCards = new KeyedList(this.sessions, (session) => session.id, (session) => new SessionCard(session, refresh));
    this.keys = (event) => this.pressed(event);
    document.addEventListener("keydown", this.keys);
  }

  update(known) {
    this.known = known;
    const { broadcasts, sessions, mayChange } = known;
    this.deviceCards.update(broadcasts);
    const kinds = new Map(broadcasts.map((broadcast) => [broadcast.device, broadcast.source.kind]));
    this.sessionCards.update(sessions.map((session) => ({ ...session, kind: kinds.get(session.device) })));
    const advice = mayChange ? "start one, and watch it here or with any player." : "you need an operator's key to start one.";
    setText(this.empty, `No session yet. A session is one encoded stream of a device: ${advice}`);
    this.empty.hidden = sessions.length > 0;
  }

  newSession() {
    if (this.known?.mayChange) askForSession(this.known.broadcasts.map((broadcast) => broadcast.device));
  }

  pressed(event) {
    if (isTyping(event)) return;
    if (event.key === "n" || event.key === "N") {
      event.preventDefault();
      this.newSession();
    }
    const session = this.known?.sessions[Number(event.key) - 1];
    if (session) location.hash = `#/session/${session.id}`;
  }

  end() {
    document.removeEventListener("keydown", this.keys);
    this.sessionCards.end();
  }
}
