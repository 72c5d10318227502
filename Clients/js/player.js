// Plays a session on a canvas.

import { Control } from "./control.js";
import { Decoder } from "./decoder.js";
import { FragmentPlayer } from "./fragments.js";
import { MotionJPEGPlayer } from "./mjpeg.js";
import { availablePlayers, playerNames } from "./players.js";
import { Sound } from "./sound.js";
import { percentile, Statistics } from "./statistics.js";
import { Stream } from "./stream.js";

/** Between two acknowledgements of pictures just presented, ms: the relay counts no more. */
const acknowledgementInterval = 100;

/**
 * Plays a session on a canvas, in the best way that the browser has, and connects again when the connection breaks off.
 *
 *     const player = new Player(document.querySelector("canvas"), relay.device("left"));
 *     player.addEventListener("state", ({ detail }) => (line.textContent = detail.text));
 *
 * Events, each with its `detail`:
 *  - `state` {state, text}: a `PlayerState`, and what it means in words;
 *  - `feed` {feed}: where the pictures come from, docs/reference/api.md;
 *  - `presented` {pts, repeat, latency}: a picture was drawn, `latency` ms after its capture. Not with `mjpeg`;
 *  - `statistics`: `Figures`, each second;
 *  - `closed` {text}: the relay closed the connection because of this page, and why;
 *  - `player` {player}: how the session is played from now on, `undefined` for in no way;
 *  - `event`: any message of the relay's, docs/reference/websocket.md;
 *  - `tracks` {tracks}: the session's tracks, when it connects and when they change;
 *  - `picture`: an encoded picture as it came, see `messages.js`;
 *  - `sound`: an encoded packet of sound as it came, while sound is on.
 */
export class Player extends EventTarget {
  /**
   * @param {Element} place A canvas, or an element in which the player makes one. The canvas takes the picture's size:
   *   lay it out by styles.
   * @param {import("./screen.js").Screen} screen A session, or a device for its session `shared`.
   * @param {object} [options]
   * @param {import("./players.js").PlayerName} [options.player] The only way to play. Default: the first that works.
   * @param {"h264" | "h265"} [options.codec] The session's, if you know it. A wrong one costs a connection.
   * @param {number} [options.fps] The session's, if you know it, for `mjpeg`.
   * @param {boolean | { label?: boolean }} [options.control] Whether people may act on the screen, see `Control`.
   *   Default: whether `place` has the attribute `data-control`.
   */
  constructor(place, screen, { player, codec = "h264", fps, control = place.hasAttribute("data-control") } = {}) {
    super();
    Object.assign(this, { screen, wanted: player, codec, fps, relayFigures: {}, target: null, dropped: 0, lastAcknowledgement: 0 });
    /** The feed, docs/reference/api.md; `undefined` until the relay has said it. */
    this.feed = undefined;
    /** @type {PlayerState} */
    this.state = "connecting";
    this.isPaused = false;
    this.statistics = new Statistics();
    this.isOwner = place.localName !== "canvas";
    this.canvas = this.isOwner ? document.createElement("canvas") : place;
    if (this.isOwner) {
      this.canvas.style.maxWidth = "100%";
      place.append(this.canvas);
    }
    /** What acts on the screen; `undefined` unless it was asked for. @type {Control | undefined} */
    this.control = control ? new Control(this, control === true ? {} : control) : undefined;
    /** The session's sound, which is off until `sound.start()`. */
    this.sound = new Sound(this);
    this.timer = setInterval(() => this.tick(), 1000);
    this.choose();
  }

  /** Ends it: closes the connection, and removes what it has put into the page. */
  close() {
    if (this.isClosed) return;
    this.isClosed = true;
    clearInterval(this.timer);
    this.control?.close();
    this.release();
    this.sound.close();
    if (this.isOwner) this.canvas.remove();
    this.say("closed", "");
  }

  /** Closes the connection, and keeps the last picture. Control ends; sound pauses. */
  pause() {
    if (this.isPaused || this.isClosed || this.state === "ended") return;
    this.isPaused = true;
    this.decoder?.paint?.();
    this.control?.stop();
    this.sound.rest();
    this.release();
    this.say("paused", "Paused");
  }

  /** Ends a pause: plays what the screen shows now. */
  resume() {
    if (!this.isPaused) return;
    this.isPaused = false;
    if (this.players === undefined) return;
    if (this.player === undefined) return this.play();
    this.begin();
    this.sound.wake();
  }

  /** Connects at once if it waits to connect again. */
  retry() {
    this.stream?.retry();
    // A static picture does not tell whether its connection is gone.
    if (this.player === "mjpeg") this.decoder?.retry();
  }

  /** Asks the encoder for a keyframe. */
  keyframe() {
    this.stream?.send({ type: "keyframe" });
  }

  /**
   * Returns the picture that is shown, with `mjpeg` the newest, as PNG; `null` if there is none.
   *
   * @returns {Promise<Blob | null>}
   */
  async snapshot() {
    // On a canvas, Firefox draws only the first picture that an image has had. The relay has the newest.
    if (this.player === "mjpeg") return this.decoder?.hasPicture ? this.screen.snapshot().catch(() => null) : null;
    if (this.statistics.totals.presented === 0) return null;
    return new Promise((done) => this.canvas.toBlob(done, "image/png"));
  }

  /** Whether the connection is lost. */
  get isCut() {
    return this.stream?.isCut === true;
  }

  /** What has come and gone. @returns {Figures} */
  get figures() {
    const { now, latency, totals, stages } = this.statistics;
    const { naturalWidth, naturalHeight } = this.decoder?.image ?? {};
    return {
      player: this.player,
      width: naturalWidth ?? this.canvas.width,
      height: naturalHeight ?? this.canvas.height,
      fpsIn: now.fpsIn,
      fpsOut: now.fpsOut,
      bitrate: now.bitrate,
      latency,
      stages: Object.fromEntries(Object.entries(stages).map(([name, values]) => [name, percentile(values, 0.5)])),
      clockError: this.stream?.clock.error ?? null,
      repeats: totals.repeats,
      dropped: this.dropped,
      skipped: this.decoder?.skipped ?? 0,
      errors: this.decoder?.errors ?? 0,
      viewers: this.relayFigures.viewers ?? null,
      target: this.target,
      sound: this.sound.figures,
    };
  }

  // How it plays

  async choose() {
    const { codec } = this;
    const players = await availablePlayers(codec, this.wanted);
    if (this.isClosed || codec !== this.codec) return;
    this.players = players;
    this.play();
  }

  /** Plays in the best way that is left. */
  play() {
    if (this.isClosed) return;
    if (this.isPaused) {
      // `resume` takes the first way of the new list.
      this.player = undefined;
      return;
    }
    this.sound.end();
    this.release();
    this.player = this.players.shift();
    this.tell("player", { player: this.player });
    if (this.player === undefined) return this.say("unsupported", this.hopeless);
    this.begin();
  }

  /** Connects anew and plays in the same way. */
  restart() {
    this.release();
    this.begin();
  }

  begin() {
    this.decoder = this.makeDecoder();
    this.decoder.addEventListener("presented", ({ detail }) => this.presented(detail));
    this.decoder.addEventListener("decoded", ({ detail }) => this.sound.pictureDecoded(detail.picture.pts, detail.at));
    this.decoder.addEventListener("trouble", ({ detail }) => this.troubled(detail));
    if (this.player === "mjpeg") return this.control?.cut("To act on the screen, this browser must play it as video.");
    this.decoder.addEventListener("starved", () => this.keyframe());
    this.decoder.addEventListener("silenced", () => this.sound.silenced());
    this.connect();
  }

  makeDecoder() {
    switch (this.player) {
      case "webcodecs": return new Decoder(this.canvas);
      case "mse": return new FragmentPlayer(this.canvas);
      default: return new MotionJPEGPlayer(this.canvas, this.screen, this.fps);
    }
  }

  connect() {
    const isFragments = this.player === "mse";
    this.stream = new Stream(this.screen, isFragments ? "mp4" : undefined, { audio: isFragments && this.sound.isContained });
    this.stream.addEventListener("state", ({ detail }) => {
      if (detail.state !== "waiting") this.control?.cut();
      this.say(detail.state, detail.text);
    });
    this.stream.addEventListener("closed", ({ detail }) => this.tell("closed", detail));
    this.stream.addEventListener("event", ({ detail }) => this.told(detail));
    this.stream.addEventListener("configuration", ({ detail }) => {
      this.configuration = detail;
      this.decoder.configure(detail, this.stream.contained !== undefined);
    });
    this.stream.addEventListener("tracks", ({ detail }) => {
      this.tell("tracks", detail);
      this.sound.follow();
    });
    this.stream.addEventListener("sound", ({ detail }) => {
      if (this.stream.contained) this.decoder?.take(detail);
      else this.sound.take(detail);
      this.tell("sound", detail);
    });
    this.stream.addEventListener("picture", ({ detail }) => {
      this.statistics.received(detail);
      this.decoder?.decode(detail);
      this.tell("picture", detail);
    });
    this.stream.connect();
  }

  release() {
    this.control?.cut();
    this.stream?.end();
    this.decoder?.close();
    this.stream = undefined;
    this.decoder = undefined;
  }

  /** What to say when nothing is left. */
  get hopeless() {
    if (this.wanted && !playerNames[this.wanted]) return `There is no player ${this.wanted}, only ${Object.keys(playerNames).join(", ")}.`;
    const name = this.codec === "h265" ? "H.265" : "H.264";
    const ways = this.wanted ? `by ${playerNames[this.wanted]}, which was asked for` : "in any way that this page knows";
    return `This browser cannot show ${name} ${ways}. Use a current Chrome, Edge, Firefox or Safari, or start a session of H.264.`;
  }

  // What happens

  told(event) {
    this.tell("event", event);
    this.control?.told(event);
    if (event.type === "stats") this.relayFigures = event;
    if (event.type === "target") this.target = event.adapt === "fixed" ? null : { bitrate: event.bitrate, fps: event.fps };
    if (event.type === "resync") this.dropped += event.dropped;
    if (event.type === "hello") this.greeted(event);
    if (event.type === "feed") this.fed(event.feed);
  }

  greeted({ codec, fps }) {
    this.fps = fps;
    this.sound.greeted();
    if (codec === this.codec) return;
    this.codec = codec;
    this.choose();
  }

  fed(feed) {
    this.feed = feed;
    this.tell("feed", { feed });
    if (feed !== "none") return;
    if (this.statistics.totals.received === 0) this.say("waiting", "There is no picture yet. Waiting for one");
    else this.say("waiting", "No pictures arrive. The stream resumes when the screen is back.");
  }

  troubled({ text, isUnsupported, hasEnded }) {
    if (isUnsupported) this.play();
    else if (hasEnded) this.say("ended", text);
    else this.say(this.player === "mjpeg" ? "interrupted" : "waiting", text);
  }

  /** @param {{ picture: import("./messages.js").Picture, at: number }} [detail] Absent with `mjpeg`. */
  presented(detail) {
    if (detail) {
      this.statistics.presented(detail.picture, detail.at);
      /** What is shown. @type {import("./messages.js").Picture | undefined} */
      this.shown = detail.picture;
      this.sound.pictured(detail.picture.pts, detail.at);
    }
    // The decoder may still have pictures of a session that has ended.
    if (this.state !== "playing" && this.state !== "ended") this.say("playing", "");
    // A listener may have closed it.
    if (!detail || this.isClosed) return;
    const { picture, at } = detail;
    if (!picture.repeat && at - this.lastAcknowledgement >= acknowledgementInterval) {
      this.stream.acknowledge(picture.pts, at);
      this.lastAcknowledgement = at;
    }
    const latency = picture.captured === null ? null : at - picture.captured;
    this.tell("presented", { pts: picture.pts, repeat: picture.repeat, latency });
  }

  tick() {
    this.statistics.tick();
    const { lastPTS } = this.statistics;
    if (lastPTS !== undefined) this.stream?.acknowledge(lastPTS);
    this.tell("statistics", this.figures);
  }

  say(state, text) {
    this.state = state;
    if (state === "ended") this.sound.end();
    this.tell("state", { state, text });
  }

  tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

/**
 * - `connecting`; `waiting` for a picture; `playing`;
 * - `paused` by `pause`; `interrupted`: the connection broke off, and the player tries again by itself;
 * - `ended`: the session has; `unsupported`: this browser cannot play it; `closed` by `close`.
 *
 * @typedef {"connecting" | "waiting" | "playing" | "paused" | "interrupted" | "ended" | "unsupported" | "closed"}
 *   PlayerState
 */

/**
 * @typedef {object} Figures Numbers are `NaN` or `undefined` until they are known.
 * @property {import("./players.js").PlayerName | undefined} player
 * @property {number} width Of the picture.
 * @property {number} height
 * @property {number} fpsIn Pictures that came in the last second.
 * @property {number} fpsOut Pictures that were presented.
 * @property {number} bitrate bit/s.
 * @property {{ p50: number, p95: number }} latency From capture to the drawn picture, ms.
 * @property {{ encode: number, link: number, network: number, decode: number }} stages Medians of its parts, ms.
 * @property {number | null} clockError How far off the relay's clock may be, ms.
 * @property {number} repeats Pictures that repeated the one before.
 * @property {number} dropped Pictures that the relay dropped because this page was slow.
 * @property {number} skipped Pictures that this page dropped.
 * @property {number} errors Of the decoder.
 * @property {number | null} viewers Of the session.
 * @property {{ bitrate: number, fps: number } | null} target The most of an encoder that follows viewers, else `null`.
 * @property {import("./sound.js").SoundFigures | null} sound `null` while sound is off.
 */
