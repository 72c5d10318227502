/// The settings of an encoder for one session's pictures.
package struct EncoderSettings: Sendable, Hashable {
    package var codec: Codec
    package var chroma: ChromaSampling
    /// The size of the encoded picture; both sides even.
    package var size: PictureSize
    /// Output slots per second, 1 to 240.
    package var fps: Int
    /// The highest bitrate, in bit/s, enforced by a video buffering verifier.
    package var bitrate: Int
    /// The size of the verifier's buffer, as the time that it takes at the bitrate, in ms.
    package var burst: Int

    /// The default of ``burst``, in ms.
    package static let defaultBurst = 500

    package init(
        codec: Codec,
        chroma: ChromaSampling = .quarter,
        size: PictureSize,
        fps: Int,
        bitrate: Int,
        burst: Int = defaultBurst
    ) {
        self.codec = codec
        self.chroma = chroma
        self.size = size
        self.fps = fps
        self.bitrate = bitrate
        self.burst = burst
    }
}
