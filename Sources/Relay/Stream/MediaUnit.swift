package import Media
package import NIOCore
package import Wire

/// One unit of a session's stream, shared by all sinks.
package final class MediaUnit: Sendable {
    package let header: UnitHeader
    /// The encoded bytes; Annex B in video tracks.
    package let bytes: ByteBuffer
    /// The agent that made it.
    package let feed: AgentRole
    /// When the relay received it, monotonic ns.
    package let relayed: UInt64
    /// What a player must know before a keyframe; `nil` for other units, or if the parameter sets cannot be read.
    package let configuration: StreamConfiguration?
    /// The codec of a packet of sound; `nil` for pictures.
    package let sound: SoundCodec?

    /// Creates a unit as it enters the stream.
    ///
    /// - Parameters:
    ///   - codec: The codec of the session's video.
    ///   - sound: The codec of a packet of sound; ignored for pictures.
    ///   - relayed: When the relay received it, monotonic ns.
    package init(
        _ unit: EncodedUnit<ByteBuffer>,
        codec: Codec,
        sound: SoundCodec = .opus,
        from feed: AgentRole = .primary,
        relayed: UInt64 = 0
    ) {
        header = unit.header
        bytes = unit.bytes
        self.feed = feed
        self.relayed = relayed
        let isVideo = unit.header.track == MediaTrack.videoID
        self.sound = isVideo ? nil : sound
        configuration = isVideo ? StreamConfiguration(unit, codec: codec) : nil
    }

    package var pts: Int64 { header.pts }
    package var isKey: Bool { header.isKey }
    package var isVideo: Bool { header.track == MediaTrack.videoID }
    package var byteCount: Int { bytes.readableBytes }
    /// The duration of a packet of sound, in samples at 48 kHz; `nil` for pictures and malformed packets.
    var samples: UInt32? { sound.flatMap { sound in bytes.read { sound.duration(of: $0) } } }
}

extension MediaUnit: Equatable {
    /// Returns whether viewers would see the same.
    package static func == (one: MediaUnit, other: MediaUnit) -> Bool {
        one === other
            || one.header.track == other.header.track && one.pts == other.pts && one.isKey == other.isKey
                && one.bytes == other.bytes
    }
}

extension EncodedUnit where Bytes == ByteBuffer {
    /// Copies a unit whose bytes are an array.
    package init(copying unit: AccessUnit) { self.init(unit.header, ByteBuffer(bytes: unit.bytes)) }
}
