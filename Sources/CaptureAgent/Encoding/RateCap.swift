import Media

/// The limits of an encoder's video buffering verifier (ITU-T H.264 annex C), which keep a session to its bitrate.
struct RateCap: Equatable {
    /// The rate at which the verifier's buffer drains, in kbit/s.
    let maximum: Int
    /// The size of the verifier's buffer, in kbit. No more than this queues on a link with the session's rate.
    let buffer: Int

    /// - Parameters:
    ///   - bitrate: The session's bitrate, in bit/s.
    ///   - burst: The size of the buffer, as the time that it takes at the bitrate, in ms.
    ///   - fps: Pictures per second that the encoder is given.
    ///   - openedFps: Pictures per second that the encoder was opened for. An open encoder cannot change it, and drains
    ///     the verifier per picture, so `maximum` makes up for the difference.
    init(bitrate: Int, burst: Int, fps: Int, openedFps: Int) {
        maximum = max(1, bitrate / 1000 * openedFps / fps)
        buffer = max(1, bitrate / 1000 * burst / 1000)
    }

    /// Returns the cap of an encoder that is opened with these settings.
    init(opening settings: EncoderSettings) {
        self.init(bitrate: settings.bitrate, burst: settings.burst, fps: settings.fps, openedFps: settings.fps)
    }

    private init(maximum: Int, buffer: Int) {
        self.maximum = maximum
        self.buffer = buffer
    }

    /// Returns a cap that limits no picture of these settings: twice its uncompressed bits.
    static func none(for settings: EncoderSettings) -> RateCap {
        let bitsPerPixel =
            switch settings.chroma {
            case .quarter: 12
            case .full: 24
            }
        let bits = 2 * settings.size.width * settings.size.height * bitsPerPixel / 1000 + 1
        return RateCap(maximum: bits, buffer: bits)
    }
}
