import CSpeexDSP

/// Stretches or shortens sound by some hundred ppm, with libspeexdsp.
///
/// Until the first correction the samples pass unchanged, which costs nothing.
package final class SoundResampler {
    /// The filter's quality, 0 to 10.
    private static let quality: Int32 = 4
    /// How many values the filter needs of before, at least: more than its length.
    private static let historySize = 128 * SoundSamples.channels

    private var state: OpaquePointer?
    private var correction = 0
    /// The last values that passed, for the filter's start.
    private var history: [Float] = []
    /// How many values to drop, because they passed before the filter began.
    private var passed = 0

    package init() {}

    deinit {
        if let state { speex_resampler_destroy(state) }
    }

    /// Returns the samples at another rate. The filter holds some back, so there may be fewer.
    ///
    /// - Parameters:
    ///   - values: Left and right in turn.
    ///   - correction: How many more samples to make of a million.
    package func process(_ values: [Float], correction: Int) -> [Float] {
        guard state != nil || correction != 0 && begin() else {
            history = values.count < Self.historySize ? (history + values).suffix(Self.historySize) : values
            return values
        }
        // What passed comes out again at its own rate first.
        if correction != self.correction, passed == 0 {
            self.correction = correction
            // At a ratio of exactly 1 the filter would jump to a whole sample, which clicks.
            let ratio = correction == 0 ? 1_000_001 : 1_000_000 + correction
            let (input, output, rate) = (UInt32(1_000_000), UInt32(ratio), UInt32(SoundSamples.rate))
            speex_resampler_set_rate_frac(state, input, output, rate, rate)
        }
        var output = run(values)
        let dropped = min(passed, output.count)
        output.removeFirst(dropped)
        passed -= dropped
        return output
    }

    /// Begins anew with sound that does not continue the one before.
    package func reset() {
        if let state { speex_resampler_destroy(state) }
        (state, correction, history, passed) = (nil, 0, [], 0)
    }

    /// Starts the filter so that its output continues the values that passed.
    private func begin() -> Bool {
        let rate = UInt32(SoundSamples.rate)
        state = speex_resampler_init_frac(UInt32(SoundSamples.channels), 1, 1, rate, rate, Self.quality, nil)
        guard let state else { return false }
        speex_resampler_skip_zeros(state)
        // What it still holds of them comes out later.
        passed = history.count - run(history).count
        history = []
        return true
    }

    private func run(_ values: [Float]) -> [Float] {
        // The rate is at most 500 ppm higher.
        let room = values.count / SoundSamples.channels * 1001 / 1000 + 16
        return [Float](unsafeUninitializedCapacity: room * SoundSamples.channels) { output, count in
            var (taken, made) = (UInt32(values.count / SoundSamples.channels), UInt32(room))
            speex_resampler_process_interleaved_float(state, values, &taken, output.baseAddress, &made)
            count = Int(made) * SoundSamples.channels
        }
    }
}
