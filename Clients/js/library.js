// The relay's library of recordings.

import { parseStoryboard } from "./storyboard.js";

/**
 * The library of a relay.
 *
 *     for await (const { id, start } of relay.library.all({ device: "left" })) console.log(id, start);
 *     await relay.library.item(id).change({ pinned: true });
 *
 * Its calls reject with `library_unavailable` if the relay has none, or cannot use it.
 */
export class Library {
  /** @param {import("./relay.js").Relay} relay */
  constructor(relay) {
    this.relay = relay;
    this.path = "v1/library";
  }

  /**
   * Lists items: one page, the newest first.
   *
   * @param {LibraryQuery} [query] An item must meet all conditions.
   * @returns {Promise<{ items: LibraryItem[], next: string | null }>} `next` is the `cursor` of the next page. A page
   *   may be short, or empty, although there is a next one.
   */
  list({ signal, ...query } = {}) {
    return this.relay.call("GET", this.path, { query, signal });
  }

  /**
   * Yields all items, page after page.
   *
   * @param {LibraryQuery} [query]
   * @returns {AsyncGenerator<LibraryItem, void>}
   */
  async *all(query = {}) {
    let cursor = query.cursor;
    do {
      const { items, next } = await this.list({ ...query, cursor });
      yield* items;
      cursor = next;
    } while (cursor);
  }

  /**
   * Says which items have changed.
   *
   * @param {string} [mark] The `mark` of the call before. Without it, only the mark is returned.
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<{ changed: number[], removed: number[], mark: string, listAgain: boolean }>} The ids of items.
   *   `listAgain`: the mark was too old, so list the library again.
   */
  changes(mark, { signal } = {}) {
    return this.relay.call("GET", `${this.path}/changes`, { query: { since: mark }, signal });
  }

  /**
   * Returns how much space the library has and takes.
   *
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<LibraryUsage>}
   */
  usage({ signal } = {}) {
    return this.relay.call("GET", `${this.path}/usage`, { signal });
  }

  /** Returns the item of this id. The relay is not asked. @param {number} id */
  item(id) {
    return new Recorded(this.relay, `${this.path}/${id}`);
  }
}

/** An item of the library: one file of a recording. Its calls reject with `unknown_item` once it is deleted. */
export class Recorded {
  /**
   * @param {import("./relay.js").Relay} relay
   * @param {string} path Where it is, from the relay's root on.
   */
  constructor(relay, path) {
    this.relay = relay;
    this.path = path;
  }

  /** Returns what the library knows about it. @returns {Promise<LibraryItem>} */
  get() {
    return this.relay.call("GET", this.path);
  }

  /**
   * Pins it, or changes its labels.
   *
   * @param {object} change
   * @param {boolean} [change.pinned] Whether it is never deleted to make room.
   * @param {string[]} [change.labels] Labels to set, as `NAME=VALUE`; `NAME=` removes one. Others stay.
   * @returns {Promise<LibraryItem>}
   */
  change(change) {
    return this.relay.call("PATCH", this.path, { body: change });
  }

  /** Deletes it. `restore` takes that back for 60 s. @returns {Promise<LibraryItem>} */
  delete() {
    return this.relay.call("DELETE", this.path);
  }

  /** Takes a deletion back. @returns {Promise<LibraryItem>} */
  restore() {
    return this.relay.call("POST", `${this.path}/restore`);
  }

  /** The address of its file: an MP4, or an MP3 of music. */
  get fileAddress() {
    return this.relay.address(`${this.path}/file`);
  }

  /**
   * Returns the address of a part of it, an MP4.
   *
   * @param {number} [start] In s from the item's beginning. Default: 0.
   * @param {number} [end] Likewise; may be in a later item of the recording. Default: the item's end.
   */
  clipAddress(start, end) {
    return this.relay.address(`${this.path}/clip`, { start, end });
  }

  /** The address of a small picture of its beginning, a JPEG. The item's `thumbnail` says whether there is one. */
  get thumbnailAddress() {
    return this.relay.address(`${this.path}/thumbnail.jpg`);
  }

  /** The address of its storyboard: WebVTT that says which small picture shows it when. */
  get storyboardAddress() {
    return this.relay.address(`${this.path}/storyboard.vtt`);
  }

  /**
   * Returns when which small picture shows it. `cueAt(cues, time)` finds the one of a time.
   *
   * Rejects with `unknown_item` if it has no storyboard, such as while its first pictures are collected.
   *
   * @param {{ signal?: AbortSignal }} [options]
   * @returns {Promise<import("./storyboard.js").StoryboardCue[]>}
   */
  async storyboard({ signal } = {}) {
    const response = await this.relay.request("GET", `${this.path}/storyboard.vtt`, { signal });
    return parseStoryboard(await response.text(), this.storyboardAddress);
  }
}

/**
 * @typedef {object} LibraryQuery
 * @property {string} [device]
 * @property {number} [session] A session's id.
 * @property {string} [recording] Only the items of this recording.
 * @property {string} [label] As `NAME=VALUE`.
 * @property {"recording" | "complete" | "interrupted" | "missing"} [state]
 * @property {string} [since] Only items that began at this time or later, such as `2026-01-31T12:00:00Z`.
 * @property {string} [until] Only items that began before this time.
 * @property {boolean} [pinned]
 * @property {string} [text] Words, or beginnings of words, of the device, the session's name and the labels.
 * @property {"newest" | "oldest"} [order] Default: `newest`.
 * @property {string} [cursor] The `next` of the page before.
 * @property {number} [limit] The most items of a page, 1 to 1000. Default: 100.
 * @property {AbortSignal} [signal]
 */

/**
 * @typedef {object} LibraryItem
 * @property {number} id For its address; in the order of time.
 * @property {string} recording The recording that it belongs to.
 * @property {number} number Its place in the recording, from 0.
 * @property {string} device
 * @property {number} session
 * @property {string | null} name The session's name.
 * @property {string | null} owner The name of the key that began the recording.
 * @property {Record<string, string>} labels
 * @property {"recording" | "complete" | "interrupted" | "missing"} state
 * @property {string} start When its first picture was taken.
 * @property {number} seconds Its length.
 * @property {number} bytes
 * @property {number} width
 * @property {number} height
 * @property {number} fps
 * @property {{ kind: "video" | "audio", codec: string }[]} tracks
 * @property {Gap[]} gaps Times without new pictures because something was lost.
 * @property {number} keyframes
 * @property {boolean} pinned
 * @property {boolean} thumbnail Whether it has a thumbnail.
 */

/**
 * @typedef {object} LibraryUsage
 * @property {number} items
 * @property {number} bytes The size of all files.
 * @property {number} freeBytes Free on the library's disk.
 * @property {number} pausesBelow Recordings pause while less is free.
 * @property {number | null} mostBytes The most that all files may take; `null` for no limit.
 * @property {{ device: string, items: number, bytes: number }[]} devices
 */

/**
 * @typedef {object} Gap
 * @property {number} start The time in the file, s.
 * @property {number} seconds How long it lasts. The last picture before it stays.
 * @property {"source_lost" | "queue_full"} reason
 */
