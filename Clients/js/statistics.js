// Figures of what is watched: counters a second, percentiles of latencies.

/** Returns the value below which that share of `values` lies; `NaN` if there are none. */
export function percentile(values, share) {
  if (values.length === 0) return NaN;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

const latencyWindow = 300;
const historyLength = 120;

export class Statistics {
  constructor() {
    this.totals = { received: 0, bytes: 0, presented: 0, repeats: 0 };
    this.latencies = [];
    this.stages = { encode: [], link: [], network: [], decode: [] };
    this.fresh = [];
    this.last = { ...this.totals, at: performance.now() };
    /** One entry a second: {fpsIn, fpsOut, bitrate, p50, p95}. */
    this.history = [];
  }

  received(picture) {
    this.totals.received += 1;
    this.totals.bytes += picture.data.length;
    if (picture.repeat) this.totals.repeats += 1;
  }

  presented(picture, at) {
    this.totals.presented += 1;
    this.lastPTS = picture.pts;
    // A repeat shows a frame that was presented long ago.
    if (picture.repeat || picture.captured === null) return;
    this.add(this.latencies, at - picture.captured);
    this.fresh.push(at - picture.captured);
    this.add(this.stages.encode, picture.encoded - picture.captured);
    this.add(this.stages.link, picture.relayed - picture.encoded);
    this.add(this.stages.network, picture.received - picture.relayed);
    this.add(this.stages.decode, at - picture.received);
  }

  add(values, value) {
    values.push(value);
    if (values.length > latencyWindow) values.shift();
  }

  /** Adds an entry to the history. Call it about once a second. */
  tick() {
    const now = performance.now();
    const seconds = (now - this.last.at) / 1000;
    const rate = (name) => (this.totals[name] - this.last[name]) / seconds;
    this.history.push({
      fpsIn: rate("received"),
      fpsOut: rate("presented"),
      bitrate: rate("bytes") * 8,
      p50: percentile(this.fresh, 0.5),
      p95: percentile(this.fresh, 0.95),
    });
    if (this.history.length > historyLength) this.history.shift();
    this.fresh = [];
    this.last = { ...this.totals, at: now };
  }

  get now() {
    return this.history.at(-1) ?? {};
  }

  get latency() {
    return { p50: percentile(this.latencies, 0.5), p95: percentile(this.latencies, 0.95) };
  }
}
