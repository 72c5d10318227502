package import Media

/// An encoder that turns pictures into access units. Owned by one thread.
package protocol VideoEncoder: AnyObject {
    /// The encoder's name in status and metrics, for example `x264`.
    var name: String { get }
    /// The settings that it was opened with.
    var settings: EncoderSettings { get }

    /// Encodes one picture, which must have the settings' size and chroma. The first picture becomes a keyframe.
    ///
    /// - Returns: Annex B bytes, and whether they are a keyframe.
    func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture

    /// Encodes a static picture as a keyframe, if possible with the quality that it has without the bitrate's cap.
    ///
    /// A keyframe that looks worse than the picture before it would be visible as a pulse.
    func encodeStaticKeyframe(_ picture: PlanarPicture) throws(EncoderError) -> EncodedPicture

    /// Changes the bitrate, the burst or the frame rate from the next picture on, without a keyframe.
    ///
    /// The stream's parameter sets (timing, level) stay as they were when the encoder was opened.
    ///
    /// - Returns: `false` if the encoder cannot do this and must be reopened.
    func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool
}

extension VideoEncoder {
    package func encodeStaticKeyframe(_ picture: PlanarPicture) throws(EncoderError) -> EncodedPicture {
        try encode(picture, forceKeyframe: true)
    }
}

/// An encoder that also accepts frames in DMA-BUFs, which the CPU then never reads.
package protocol ImportingEncoder: VideoEncoder {
    /// Scales the frame to the settings' size and encodes it. The buffer is no longer needed afterwards.
    ///
    /// An odd last column or row is left out.
    func encode(_ buffer: DMABuf, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture

    /// Encodes the last imported picture again; returns `nil` if there is none.
    func encodeImportedAgain(forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture?
}

package struct EncodedPicture {
    package var bytes: [UInt8]
    package var isKeyframe: Bool
    /// Whether the bitrate's cap or the rate control has lowered the picture's quality. Also `true` if the encoder does
    /// not report it.
    package var isCapped: Bool

    package init(bytes: [UInt8], isKeyframe: Bool, isCapped: Bool = true) {
        self.bytes = bytes
        self.isKeyframe = isKeyframe
        self.isCapped = isCapped
    }
}
