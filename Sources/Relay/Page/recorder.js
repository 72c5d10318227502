// Records pictures from the next keyframe on, and saves them as a file.

const longest = 512 << 20;

export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

export function fileName(session, ending) {
  const time = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  return `heliograph-${session}-${time}.${ending}`;
}

export class Recorder {
  /** `beginning`: the file's bytes before its first keyframe. */
  constructor(ending, beginning) {
    Object.assign(this, { ending, beginning, parts: [], bytes: 0 });
  }

  /** Adds a picture. Returns `false` when the recording has its maximum size. */
  add(picture) {
    if (this.parts.length === 0 && !picture.key) return true;
    if (this.parts.length === 0 && this.beginning) this.parts.push(this.beginning);
    this.parts.push(picture.data);
    this.bytes += picture.data.length;
    return this.bytes < longest;
  }

  finish(session) {
    if (this.parts.length > 0) save(new Blob(this.parts, { type: `video/${this.ending}` }), fileName(session, this.ending));
    return this.parts.length > 0;
  }
}
