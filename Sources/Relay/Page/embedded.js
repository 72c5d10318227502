// The page in a frame of another page, or by a signed link: a player, and nothing else.
//
// It makes no calls but those of the one session, because a signed link opens no others.

import { element, setText, setTitle } from "./dom.js";
import { parsePlace } from "./places.js";
import { isForButton, isShortcut } from "./shortcuts.js";
import { relay } from "./site.js";
import { Stage } from "./stage.js";
import { screenName } from "./words.js";

/** Returns what a place shows, and where its report is; `undefined` if it names no session. */
function screens({ view, id, device, name }) {
  if (view !== "session") return undefined;
  if (id !== undefined) return { screen: relay.session(id), session: relay.session(id) };
  const session = relay.device(device).session(name);
  // A device's own address also starts a session on demand.
  return { screen: name === "shared" ? relay.device(device) : session, session };
}

class EmbeddedView {
  constructor() {
    this.stage = new Stage();
    const { control, sound, theatre, fullScreen } = this.stage;
    const button = (text, key, click) => element("button", { type: "button", "aria-keyshortcuts": key, text, on: { click } });
    this.pause = button("Pause", "Space", () => this.stage.togglePause());
    this.whole = button("Full screen", "F", () => this.fillScreen());
    this.bar = element("div", { class: "embedded-bar" }, control.toggle, this.pause, sound.root, this.whole, control.problem, sound.problem);
    theatre.append(this.bar);
    this.title = element("h1", { class: "unseen", text: "Player" });
    this.root = element("div", {}, this.title, theatre);
    this.stage.addEventListener("change", () => this.show());
    fullScreen.addEventListener("change", () => this.show());
    this.stage.addEventListener("player", ({ detail: player }) => {
      player.addEventListener("event", ({ detail }) => detail.type === "hello" && this.report());
      player.control.addEventListener("change", () => this.show());
    });
    document.addEventListener("keydown", (event) => this.pressed(event));
    addEventListener("hashchange", () => this.play());
    this.play();
    this.show();
  }

  play() {
    const place = parsePlace(location.hash);
    const found = screens(place);
    if (!found) return this.stage.say("This address names no session. Add one, such as #/devices/NAME/shared.");
    this.session = found.session;
    this.name(place);
    this.stage.play(found.screen);
  }

  /** Fetches the session's report, whenever it is connected: by a name it may be another session. */
  async report() {
    try {
      const session = await this.session.get();
      this.name(session);
      // How long a recording is would be out of date soon.
      this.stage.show({ ...session, recording: null });
    } catch {
      // The player says what is wrong.
    }
  }

  name(screen) {
    setText(this.title, screenName(screen));
    setTitle(screenName(screen));
  }

  show() {
    const { stage } = this;
    const { player, control } = stage;
    setText(this.pause, stage.isPaused ? "Play" : "Pause");
    this.pause.disabled = player === undefined || player.state === "ended";
    control.toggle.classList.toggle("out-of-reach", player?.control.isPossible !== true);
    this.bar.hidden = player?.control.state === "on";
  }

  async fillScreen() {
    try {
      await this.stage.fullScreen.toggle();
    } catch {
      this.whole.disabled = true;
      this.whole.title = "The page around this one does not allow full screen.";
    }
  }

  pressed(event) {
    if (!isShortcut(event) || event.repeat || isForButton(event)) return;
    const action = { " ": this.pause, f: this.whole, m: this.stage.sound.button }[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action.click();
  }
}

export function start() {
  document.getElementById("view").replaceChildren(new EmbeddedView().root);
}
