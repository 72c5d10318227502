// The sound of a player: off until a person asks for it.

import { hasSoundOutput, SoundOutput } from "./sound-output.js";

/** What cannot be measured. */
const unmeasured = { skew: null, delay: null, holes: null, dropped: null, errors: null };

/**
 * The sound of a session, for one player.
 *
 *     const { sound } = player;
 *     button.addEventListener("click", () => (sound.state === "off" ? sound.start() : sound.stop()));
 *
 * Sound begins with `start`, in a handler of a click or a key. It pauses with the player, and while the page is hidden
 * and has no picture-in-picture. It ends with the session. Its event `change` comes when a property below has changed;
 * `level`, ten times a second, when the level has.
 */
export class Sound extends EventTarget {
  /** @param {import("./player.js").Player} player */
  constructor(player) {
    super();
    this.player = player;
    /** `off`, `starting`, or `on`. @type {"off" | "starting" | "on"} */
    this.state = "off";
    /** The session's track of sound; `undefined` if it has none. @type {import("./messages.js").Track | undefined} */
    this.track = undefined;
    /** Why sound did not start, or has ended; empty if all is well. */
    this.reason = "";
    this.loudness = 1;
    this.listeners = new AbortController();
    document.addEventListener("visibilitychange", () => this.seen(!document.hidden), { signal: this.listeners.signal });
  }

  /** Why this page cannot play the sound, for people; empty if it can. */
  get obstacle() {
    const { player: way, stream, decoder } = this.player;
    if (!this.track) return "This session has no sound.";
    if (this.player.isPaused) return "The picture is paused.";
    if (way === "webcodecs" && !hasSoundOutput()) return "This browser cannot play sound by WebCodecs. Play the session by Media Source Extensions.";
    if (way === "mse" && !decoder?.canHear) return "This browser cannot play Opus in MP4.";
    // Between pictures that are far apart, the sound would have to wait.
    if (way === "mse" && stream?.repeats === false) return "This session sends no repeats. Media Source Extensions play sound only with repeats.";
    return "";
  }

  /** Whether `start` makes sense. */
  get isPossible() {
    return this.obstacle === "";
  }

  /** Begins. Call it in a handler of a click or a key. */
  start() {
    if (this.state !== "off" || !this.isPossible) return;
    this.reason = "";
    if (this.player.player === "mse") return this.hear();
    try {
      this.output = new SoundOutput(this.loudness);
    } catch (error) {
      return this.failed(error.message);
    }
    const { output } = this;
    output.addEventListener("report", () => {
      this.holdPictures();
      this.dispatchEvent(new Event("level"));
    });
    output.addEventListener("failed", ({ detail }) => output === this.output && this.failed(detail.text));
    output.ready.then(
      () => output === this.output && this.set("on"),
      (error) => output === this.output && this.failed(error.message),
    );
    this.player.stream.audio(true);
    this.set("starting");
  }

  /** Ends, and closes what was opened. */
  stop() {
    this.isPaused = false;
    if (this.state === "off") return;
    if (this.output) {
      this.player.stream?.audio(false);
      this.output.close();
      this.output = undefined;
      this.holdPictures();
    } else {
      this.player.decoder?.hear?.(false, this.loudness);
    }
    this.set("off");
    this.dispatchEvent(new Event("level"));
  }

  /** How loud it is, 0 to 1. */
  get volume() {
    return this.loudness;
  }

  set volume(volume) {
    this.loudness = Math.min(1, Math.max(0, volume));
    this.output?.setVolume(this.loudness);
    if (this.isContained && this.state === "on") this.player.decoder?.hear?.(true, this.loudness);
    this.changed();
  }

  /** The root mean square of what is heard, 0 to 1; `null` if it cannot be measured. */
  get level() {
    if (this.state === "off") return 0;
    return this.output ? this.output.level * this.loudness : null;
  }

  /** What is measured; `null` while it is off. @returns {SoundFigures | null} */
  get figures() {
    if (this.state === "off") return null;
    return this.output ? this.output.figures : unmeasured;
  }

  // The player's side

  /** The session's tracks have changed. */
  follow() {
    this.track = this.player.stream?.sound;
    if (this.player.player === "mse") this.followContained();
    this.changed();
  }

  /** The connection was made, and the session may be another one. */
  greeted() {
    this.output?.reset();
    this.holdPictures();
  }

  /** A packet has come. */
  take(packet) {
    if (packet.track === this.track?.id) this.output?.take(packet);
  }

  pictureDecoded(pts, at) {
    this.output?.pictureDecoded(pts, at);
  }

  pictured(pts, at) {
    this.output?.pictured(pts, at);
  }

  /** The player pauses. */
  rest() {
    const wasOn = this.state !== "off" || this.isPaused;
    this.stop();
    this.isPaused = wasOn;
    this.changed();
  }

  /** The player plays again. */
  wake() {
    if (!document.hidden) this.seen(true);
    this.changed();
  }

  /** The session is over, or is played in another way from now on. */
  end() {
    this.isContained = false;
    this.stop();
    this.track = undefined;
    this.changed();
  }

  close() {
    this.listeners.abort();
    this.end();
  }

  /** The browser refused to be heard without a click. */
  silenced() {
    this.failed("The browser does not let this page play sound.");
  }

  // In a container

  /** Makes the video heard. The container must have the track, which is chosen when it is connected. */
  hear() {
    this.set("on");
    const wasContained = this.isContained;
    /** Whether the container has the session's sound. */
    this.isContained = true;
    if (!wasContained) this.player.restart();
    this.player.decoder.hear(true, this.loudness);
  }

  /** Connects again if the container's sound is not the session's any more. */
  followContained() {
    const { stream } = this.player;
    if (!this.isContained || JSON.stringify(stream.contained) === JSON.stringify(stream.sound)) return;
    const isOn = this.state === "on";
    this.player.restart();
    if (isOn) this.player.decoder.hear(true, this.loudness);
  }

  // Inside

  /** Lets pictures wait for their sound. A person who acts on the screen needs them at once. */
  holdPictures() {
    const isActing = this.player.control !== undefined && this.player.control.state !== "off";
    this.player.decoder?.hold?.follow(isActing ? undefined : this.output?.lateness);
  }

  /** The page is seen again, or its picture is not seen any more. */
  seen(isVisible) {
    if (!isVisible && document.pictureInPictureElement) return;
    if (!isVisible && this.state !== "off") {
      this.stop();
      this.isPaused = true;
    } else if (isVisible && this.isPaused && !this.player.isPaused) {
      this.isPaused = false;
      this.start();
    }
  }

  failed(reason) {
    this.stop();
    this.reason = reason;
    this.changed();
  }

  set(state) {
    this.state = state;
    this.changed();
  }

  changed() {
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * @typedef {object} SoundFigures Each is `null` if it is not known.
 * @property {number | null} skew How much later sound is heard than the picture of the same time is drawn, ms.
 * @property {number | null} delay The sound that waits to be played, ms.
 * @property {number | null} holes Interruptions that were not silence.
 * @property {number | null} dropped Packets that came too late or were skipped.
 * @property {number | null} errors Of the decoder.
 */
