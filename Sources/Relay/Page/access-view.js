// Who may call: the relay's keys, its paired clients, and its tunnel. Operators manage them.

import { element, KeyedList, setText } from "./dom.js";
import { askForKeyToMake, askForTunnel, askToPair, askToRevoke, showKey, showPIN } from "./forms.js";
import { relay } from "./site.js";
import { localTime } from "./words.js";

class KeyCard {
  constructor({ name }, revoke) {
    this.facts = ["role", "reach", "made"].map(() => element("p", { class: "quiet" }));
    const button = element("button", { type: "button", text: "Revoke…", on: { click: () => revoke(name) } });
    this.root = element(
      "article",
      { class: "card", "aria-label": `Key ${name}` },
      element("h2", { text: name }),
      ...this.facts,
      element("div", { class: "actions" }, button),
    );
  }

  update({ role, devices, library, created, expires, fingerprint }) {
    const reach = devices ? `${devices.length === 1 ? "Device" : "Devices"} ${devices.join(", ")}` : "All devices";
    const texts = [`Role ${role}`, `${reach} · library: ${library.join(", ") || "nothing"}`, `${fingerprint ? "Paired" : "Made"} ${localTime(created)}${expires ? `, ends ${localTime(expires)}` : ""}`];
    texts.forEach((text, place) => setText(this.facts[place], text));
  }
}

/** Returns a tunnel's state in words. */
function stateText({ tunnel, status }) {
  if (!status) return "The relay runs no tunnel. A tunnel lets people with a key reach it from the internet, by cloudflared.";
  const name = tunnel === "quick" ? "The quick tunnel" : `The tunnel ${tunnel.replace("named:", "")}`;
  if (status.state === "down") return `${name} is down: ${status.problem}`;
  if (status.state === "connecting") return `${name} is connecting.`;
  return `${name} is up${status.address ? ":" : "."}`;
}

export class AccessView {
  /** @param refresh Fetches what the page knows of its caller. */
  constructor(refresh) {
    this.refresh = refresh;
    this.off = element("p", { class: "empty", hidden: true, text: "Calls need no key: anyone who reaches this relay may do everything but act on screens. The first key changes that." });
    this.cards = element("div", { class: "grid" });
    this.list = new KeyedList(this.cards, (key) => key.name, (key) => new KeyCard(key, (name) => this.revoke(name)));
    this.state = element("p", { role: "status" });
    this.address = element("a", { hidden: true });
    this.start = element("button", { type: "button", class: "main", text: "Start a tunnel…", on: { click: () => askForTunnel((tunnel) => this.setTunnel(tunnel)) } });
    this.stop = element("button", { type: "button", text: "End the tunnel", on: { click: () => this.setTunnel("none").catch((error) => this.fail(error)) } });
    this.wrong = element("p", { class: "wrong", role: "alert" });
    this.nearby = element("ul", { class: "nearby", hidden: true });
    this.nearbyState = element("p", { role: "status" });
    this.find = element("button", { type: "button", text: "Look for relays", on: { click: () => this.findRelays() } });
    const make = element("button", { type: "button", class: "main", text: "Make a key…", on: { click: () => this.make() } });
    // Clients pair over TLS alone.
    const pair = element("button", { type: "button", hidden: location.protocol !== "https:", text: "Pair a client…", on: { click: () => this.pair() } });
    this.contents = element(
      "div",
      { hidden: true },
      element("div", { class: "heading" }, element("h1", { text: "Keys" }), pair, make),
      this.off,
      this.cards,
      element("div", { class: "heading" }, element("h1", { text: "Tunnel" })),
      this.state,
      element("p", {}, this.address),
      element("div", { class: "actions" }, this.start, this.stop),
      element("div", { class: "heading" }, element("h1", { text: "Other relays in this network" })),
      this.nearbyState,
      this.nearby,
      element("div", { class: "actions" }, this.find),
    );
    this.root = element("div", {}, this.wrong, this.contents);
  }

  update(known) {
    this.known = known;
    this.look();
  }

  happened({ type }) {
    if (type === "tunnel.changed") this.look();
  }

  /** Fetches and shows the keys and the tunnel. */
  async look() {
    try {
      const [keys, tunnel] = await Promise.all([relay.call("GET", "v1/keys"), relay.call("GET", "v1/tunnel")]);
      if (this.hasEnded) return;
      this.show(keys, tunnel);
    } catch (error) {
      this.fail(error);
    }
  }

  show({ access, keys }, tunnel) {
    this.access = access;
    this.off.hidden = access;
    this.list.update(keys);
    setText(this.state, stateText(tunnel));
    const address = tunnel.status?.state === "up" ? tunnel.status.address : null;
    this.address.hidden = !address;
    if (address) Object.assign(this.address, { href: address, textContent: address });
    this.start.hidden = tunnel.status !== null;
    this.stop.hidden = tunnel.status === null;
    this.contents.hidden = false;
    setText(this.wrong, "");
  }

  /** Shows an error. Those of the whole page are shown by the page. */
  fail(error) {
    if (error.code === "unreachable" || error.status === 401) return;
    if (error.status === 403) this.contents.hidden = true;
    setText(this.wrong, error.message);
  }

  make() {
    const devices = this.known?.broadcasts.map((broadcast) => broadcast.device) ?? [];
    askForKeyToMake(devices, !this.access, async (wish) => {
      const made = await relay.call("POST", "v1/keys", { body: wish });
      // From the first key on this browser needs one, too.
      if (!this.access && made.role === "operator") await relay.logIn(made.key);
      await this.refresh();
      showKey(made);
    });
  }

  pair() {
    const devices = this.known?.broadcasts.map((broadcast) => broadcast.device) ?? [];
    askToPair(devices, async (terms) => showPIN(await relay.call("POST", "v1/pairing", { body: terms })));
  }

  /** Asks the relay for others, and lists them with the fingerprints of their certificates. */
  async findRelays() {
    this.find.disabled = true;
    setText(this.nearbyState, "Looking…");
    try {
      const { relays, problem } = await relay.call("GET", "v1/relays");
      const others = relays.filter(({ fingerprint }) => fingerprint !== this.known?.fingerprint);
      const item = ({ url, name, release, fingerprint }) =>
        element("li", {}, element("a", { href: url, text: name }), ` ${release}`, element("small", { text: fingerprint }));
      this.nearby.replaceChildren(...others.map(item));
      this.nearby.hidden = others.length === 0;
      const found = others.length === 0 ? "No other relay has announced itself." : "Compare a fingerprint with the relay's log before you trust it.";
      setText(this.nearbyState, problem ? `The relay cannot look: ${problem}.` : found);
    } catch (error) {
      setText(this.nearbyState, error.message);
    }
    this.find.disabled = false;
  }

  revoke(name) {
    askToRevoke(name, async () => {
      await relay.call("DELETE", `v1/keys/${encodeURIComponent(name)}`);
      await this.refresh();
    });
  }

  async setTunnel(tunnel) {
    await relay.call("PUT", "v1/tunnel", { body: { tunnel } });
    await this.refresh();
  }

  end() {
    this.hasEnded = true;
    this.list.end();
  }
}
