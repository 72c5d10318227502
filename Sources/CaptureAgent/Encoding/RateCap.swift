import Media

/// How an encoder's video buffering verifier (ITU-T H.264 annex C) holds a session's bit rate.
struct RateCap: Equatable {
    private static let uncompressedBitsPerPixel = 12

    /// Rate at which the verifier's buffer drains, kbit/s.
    let maximum: Int
    /// Size of the verifier's buffer, kbit: no more than this waits before a link of the session's rate.
    let buffer: Int

    /// - Parameters:
    ///   - bitrate: The session's bit rate, bit/s.
    ///   - fps: Pictures per second that the encoder is given.
    ///   - openedFps: Pictures per second that it was opened for. It cannot learn of another rate while it is open, and
    ///     drains the verifier by the picture: the difference is made up in what a second drains.
    init(bitrate: Int, fps: Int, openedFps: Int) {
        maximum = max(1, bitrate / 1000 * openedFps / fps)
        buffer = max(1, bitrate / 2000)
    }

    private init(maximum: Int, buffer: Int) {
        self.maximum = maximum
        self.buffer = buffer
    }

    /// What holds no picture of that size down: its uncompressed bits, twice over.
    static func none(for size: PictureSize) -> RateCap {
        let bits = 2 * size.width * size.height * uncompressedBitsPerPixel / 1000 + 1
        return RateCap(maximum: bits, buffer: bits)
    }
}
