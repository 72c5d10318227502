package import Media

/// Turns pictures into access units. Owned by one thread.
package protocol VideoEncoder: AnyObject {
    /// The encoder's name in status and metrics, for example `x264`.
    var name: String { get }
    /// What it was opened for.
    var settings: EncoderSettings { get }

    /// Encodes one picture, whose size is the settings'.
    ///
    /// Returns Annex B bytes and whether they are a keyframe. The first picture is one.
    func encode(_ picture: I420Picture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture

    /// Encodes a picture that is static as a keyframe, where possible in the quality that it has without the cap of the bit rate:
    /// one that is worse than the picture before it would be seen as a pulse.
    func encodeStaticKeyframe(_ picture: I420Picture) throws(EncoderError) -> EncodedPicture

    /// Holds another bit rate, or the same at another rate of pictures, from the next picture on and without a keyframe.
    ///
    /// Returns false where the encoder cannot: it has to be opened again. What a stream says of itself in its parameter
    /// sets (timing, level) stays as it was opened.
    func reconfigure(bitrate: Int, fps: Int) -> Bool
}

extension VideoEncoder {
    package func encodeStaticKeyframe(_ picture: I420Picture) throws(EncoderError) -> EncodedPicture {
        try encode(picture, forceKeyframe: true)
    }
}

/// An encoder that also takes frames in DMA-BUFs, which the CPU then never reads.
package protocol ImportingEncoder: VideoEncoder {
    /// Scales the frame to the whole of the settings' size and encodes it. The buffer is no longer needed after.
    ///
    /// An odd last column or row is left out.
    func encode(_ buffer: DMABuf, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture

    /// Encodes the picture of the DMA-BUF that was encoded last once more; nil where there was none.
    func encodeImportedAgain(forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture?
}

package struct EncodedPicture {
    package var bytes: [UInt8]
    package var isKeyframe: Bool
    /// Whether the cap of the bit rate, or what the rate control has been through, has lowered its quality; true as well where the
    /// encoder does not tell.
    package var isCapped: Bool

    package init(bytes: [UInt8], isKeyframe: Bool, isCapped: Bool = true) {
        self.bytes = bytes
        self.isKeyframe = isKeyframe
        self.isCapped = isCapped
    }
}
