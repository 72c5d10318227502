package import Media

/// The Annex B byte stream of a session's port, and of stream.h264 and stream.h265.
package enum BareStream {
    /// - Parameter isWhole: Whether the relay ended the stream, so that nothing may be cut off.
    package static func recording(of bytes: [UInt8], codec: Codec, isWhole: Bool) -> Recording {
        var recording = Recording()
        var units = ByteStream.accessUnits(in: bytes, codec: codec)
        // A picture's end shows only when the next one begins.
        if !isWhole { units = units.dropLast() }
        recording.pictures = units.map { RecordedPicture(bytes: $0) }
        return recording
    }
}
