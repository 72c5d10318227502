// What this browser remembers of the page.

/** Returns what was remembered; `null` if nothing was, or if the browser forbids it. */
export function remembered(name) {
  try {
    return localStorage.getItem(`heliograph.${name}`);
  } catch {
    return null;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(`heliograph.${name}`, String(value));
  } catch {
    // It holds until the page is left.
  }
}
