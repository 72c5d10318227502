// The microphone of this machine, for the device that a page controls. docs/reference/websocket.md#speech

const sampleRate = 48_000;
/** What the relay takes. `application` keeps more of a voice than Opus's mode for calls. */
const configuration = {
  codec: "opus", sampleRate, numberOfChannels: 1, bitrate: 64_000, opus: { frameDuration: 20_000, application: "audio" },
};

/** If more waits for the network, in bytes, speech is left out: about 0.5 s. */
const mostWaiting = 4096;

/** Returns the message with a packet of Opus; an empty one ends. @param {number} [size] The packet's, in bytes. */
export function speechMessage(size = 0, write = () => {}) {
  const bytes = new Uint8Array(4 + size);
  bytes[0] = 0x20;
  write(bytes.subarray(4));
  return bytes.buffer;
}

/**
 * Speaks to the device's microphone, while `Control` controls the device.
 *
 *     control.speech.start();
 *
 * Its event `change` comes when a property has changed.
 */
export class Speech extends EventTarget {
  /** @param {import("./control.js").Control} control */
  constructor(control) {
    super();
    this.control = control;
    /** `off`, `starting`, or `on`. @type {"off" | "starting" | "on"} */
    this.state = "off";
    /** Why speech did not start, or has ended; empty if all is well. */
    this.problem = "";
  }

  /** Why this page cannot speak, for people; empty if it can. */
  get obstacle() {
    if (!this.control.relay.microphone) return "The device has no microphone.";
    if (!navigator.mediaDevices?.getUserMedia) return "The browser allows a microphone only on HTTPS pages and on this machine.";
    if (typeof AudioEncoder !== "function") return "This browser cannot encode Opus.";
    return "";
  }

  /** Asks the person for the microphone, and begins. Call it in a handler of a click. */
  async start() {
    if (this.state !== "off" || this.control.state !== "on" || this.obstacle) return;
    const attempt = (this.attempt = {});
    const isCurrent = () => this.attempt === attempt && this.control.state === "on";
    this.set("starting");
    // Asking may take the focus.
    this.control.pause();
    try {
      const audio = { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true };
      attempt.media = await navigator.mediaDevices.getUserMedia({ audio });
      if (isCurrent()) await this.open(attempt);
      if (isCurrent()) this.set("on");
      else close(attempt);
    } catch (error) {
      close(attempt);
      if (this.attempt === attempt) this.end(error.name === "NotAllowedError" ? "The microphone was not allowed." : error.message);
    }
    this.control.resume();
  }

  /** Ends. */
  stop() {
    if (this.state !== "off") this.end("");
  }

  /** Takes in the relay's event `refused`. */
  refused({ reason, detail }) {
    if (reason === "no_microphone" && this.state !== "off") this.end(`${detail}.`);
  }

  async open(attempt) {
    attempt.context = new AudioContext({ sampleRate, latencyHint: "interactive" });
    await attempt.context.audioWorklet.addModule(new URL("./speech-worklet.js", import.meta.url));
    attempt.encoder = new AudioEncoder({ output: (packet) => this.send(attempt, packet), error: ({ message }) => this.attempt === attempt && this.end(message) });
    attempt.encoder.configure(configuration);
    attempt.node = new AudioWorkletNode(attempt.context, "heliograph-speech", { numberOfOutputs: 0, channelCount: 1, channelCountMode: "explicit" });
    let timestamp = 0;
    attempt.node.port.onmessage = ({ data }) => {
      if (this.attempt !== attempt) return;
      const samples = new AudioData({ format: "f32", sampleRate, numberOfFrames: data.length, numberOfChannels: 1, timestamp, data });
      timestamp += (data.length / sampleRate) * 1e6;
      attempt.encoder.encode(samples);
      samples.close();
    };
    attempt.context.createMediaStreamSource(attempt.media).connect(attempt.node);
    // Unplugged, or no longer allowed.
    attempt.media.getAudioTracks()[0].addEventListener("ended", () => this.attempt === attempt && this.end("The microphone has ended."));
  }

  send(attempt, packet) {
    if (this.attempt !== attempt || this.control.player.stream?.waiting > mostWaiting) return;
    this.control.send(speechMessage(packet.byteLength, (bytes) => packet.copyTo(bytes)));
  }

  /** @param {string} problem Why, for people; empty if the person wanted it. */
  end(problem) {
    const { attempt } = this;
    this.attempt = undefined;
    if (this.state === "on") this.control.send(speechMessage());
    if (attempt) close(attempt);
    this.problem = problem;
    this.set("off");
  }

  set(state) {
    this.state = state;
    if (state !== "off") this.problem = "";
    this.dispatchEvent(new CustomEvent("change"));
  }
}

/** Closes what was opened, so that the browser shows no microphone in use. */
function close({ media, context, encoder }) {
  for (const track of media?.getTracks() ?? []) track.stop();
  context?.close().catch(() => {});
  if (encoder?.state === "configured") encoder.close();
}
