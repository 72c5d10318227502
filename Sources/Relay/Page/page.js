// The whole page: the wall, a player, the library, a recording, or who may call.

import { Absence } from "./absence.js";
import { AccessView } from "./access-view.js";
import { setText, setTitle } from "./dom.js";
import { Farm } from "./farm.js";
import { askForKey } from "./forms.js";
import { ItemView } from "./item-view.js";
import { LibraryView } from "./library-view.js";
import { parsePlace } from "./places.js";
import { SessionView } from "./session-view.js";
import { offerShortcuts } from "./shortcuts.js";
import { relay } from "./site.js";
import { WallView } from "./wall-view.js";
import { tunnelText } from "./words.js";

const root = document.getElementById("view");
const notice = document.getElementById("notice");
const caption = document.getElementById("relay");
const places = document.querySelectorAll(".places a");
const login = document.getElementById("login");

const titles = { wall: "Wall", session: "Session", library: "Library", access: "Access" };

/** The dialog that asks for a key, while it is open. */
const keyDialog = () => document.querySelector("dialog[open] [name=key]")?.closest("dialog");

class Page {
  constructor() {
    this.farm = new Farm(relay);
    this.farm.addEventListener("change", () => this.update());
    this.farm.addEventListener("trouble", ({ detail }) => this.trouble(detail));
    this.farm.addEventListener("event", ({ detail }) => this.view.happened?.(detail));
    this.absence = new Absence({ left: () => this.farm.close(), back: () => this.farm.open() });
    login.addEventListener("click", () => this.logInOrOut());
    offerShortcuts(document.getElementById("shortcuts"), document.getElementById("help"));
    addEventListener("hashchange", () => {
      this.show();
      // Go to the top of the new contents, for eyes and for screen readers.
      root.focus({ preventScroll: true });
      scrollTo(0, 0);
    });
    this.show();
    this.farm.open();
  }

  // What it shows

  /** Shows the view that the page's address names. */
  show() {
    this.view?.end();
    const place = parsePlace(location.hash);
    this.view = this.makeView(place);
    root.replaceChildren(this.view.root);
    setTitle(titles[place.view]);
    for (const link of places) {
      if (parsePlace(link.hash).view === place.view) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const { known } = this.farm;
    if (known) this.view.update(known);
  }

  makeView(place) {
    switch (place.view) {
      case "session": return new SessionView(place);
      case "library": return place.id === undefined ? new LibraryView() : new ItemView(place.id);
      case "access": return new AccessView(() => this.farm.refresh());
      default: return new WallView(this.farm.wall, place.query);
    }
  }

  update() {
    const { known } = this.farm;
    if (!known) return;
    const { who } = known;
    delete login.dataset.asked;
    keyDialog()?.close();
    notice.hidden = true;
    root.classList.remove("outdated");
    const caller = who.name ? `, as ${who.name} (${who.role})` : "";
    setText(caption, `Relay ${who.release} at ${location.host}${caller}${tunnelText(who.tunnel)}`);
    this.allow(known);
    setText(login, "Log out");
    login.hidden = !who.access;
    this.view.update(known);
  }

  trouble({ text, error }) {
    if (error?.status === 401) return this.logInFirst();
    const isOver = this.farm.wall.state === "refused";
    setText(notice, `${error?.sentence ?? text} Showing the last known state.${isOver ? "" : " Reconnecting…"}`);
    notice.hidden = false;
    root.classList.add("outdated");
    this.view.unreachable?.();
    setText(caption, "");
  }

  /** Hides the actions that the caller may not do. */
  allow({ mayChange = false, mayRecord = false, mayDelete = false }) {
    const { classList } = document.body;
    classList.toggle("looks-only", !mayChange);
    classList.toggle("may-not-record", !mayRecord);
    classList.toggle("may-not-delete", !mayDelete);
  }

  // Who calls

  /** Asks for the key that the relay needs. It opens the dialog once; after that the user does. */
  logInFirst() {
    this.allow({});
    setText(notice, "This relay requires a key.");
    notice.hidden = false;
    setText(caption, "");
    setText(login, "Log in");
    if (login.hidden || login.dataset.asked !== "yes") this.askForKey();
    login.dataset.asked = "yes";
    login.hidden = false;
  }

  askForKey() {
    if (!keyDialog()) askForKey(() => this.farm.reopen());
  }

  async logInOrOut() {
    if (login.textContent === "Log in") return this.askForKey();
    await relay.logOut().catch(() => {});
    // The old contents belong to the user who has logged out.
    this.farm.close();
    this.farm.forget();
    this.show();
    this.farm.open();
  }
}

export function start() {
  new Page();
}
