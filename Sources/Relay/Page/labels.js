// A recording's labels as text that people edit: a line NAME=VALUE for each.

/** Returns the labels as lines, by name. @param {Record<string, string>} labels */
export function labelLines(labels) {
  return Object.keys(labels).sort().map((name) => `${name}=${labels[name]}`);
}

/**
 * Returns what the relay must set so that the labels become those of a text.
 *
 * @param {Record<string, string>} labels
 * @param {string} text
 * @returns {string[]} `NAME=VALUE` for new and changed labels, `NAME=` for those that the text does not have.
 */
export function labelChanges(labels, text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  const names = new Set(lines.map((line) => line.split("=", 1)[0]));
  const removed = Object.keys(labels).filter((name) => !names.has(name)).map((name) => `${name}=`);
  const known = new Set(labelLines(labels));
  return [...removed, ...lines.filter((line) => !known.has(line))];
}
