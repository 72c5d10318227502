// Creates elements without markup, so that the names of devices and labels stay text.

/** Creates an element with properties; `text` is its text, `class` its classes, `on` its listeners. */
export function element(name, properties = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key === "text") node.textContent = value;
    else if (key === "class") node.className = value;
    else if (key === "on") for (const [type, listener] of Object.entries(value)) node.addEventListener(type, listener);
    else if (key in node) node[key] = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

/** Sets text only if it changes, so that selections and screen readers are not disturbed. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Names the page in the browser's tabs and history. */
export function setTitle(text) {
  const title = `${text} · Heliograph`;
  if (document.title !== title) document.title = title;
}

/** Returns whether a pressed key belongs to a field or a dialog rather than to the page. */
export function isTyping(event) {
  return event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") !== null
    || (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName) && event.target.type !== "range");
}

/** Keeps one child of `parent` per item, in order. Items with the same `key` share the view that `make` created. */
export class KeyedList {
  constructor(parent, key, make) {
    Object.assign(this, { parent, key, make, views: new Map() });
  }

  update(items) {
    const keys = new Set(items.map(this.key));
    for (const [key, view] of this.views) {
      if (keys.has(key)) continue;
      view.end?.();
      view.root.remove();
      this.views.delete(key);
    }
    items.forEach((item, place) => {
      const key = this.key(item);
      if (!this.views.has(key)) this.views.set(key, this.make(item));
      const view = this.views.get(key);
      view.update(item);
      if (this.parent.children[place] !== view.root) this.parent.insertBefore(view.root, this.parent.children[place] ?? null);
    });
  }

  end() {
    this.update([]);
  }
}
