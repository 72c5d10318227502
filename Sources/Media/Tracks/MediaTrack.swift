/// One elementary stream: a session's pictures, or a device's sound.
package struct MediaTrack: Sendable, Hashable {
    /// Distinguishes the tracks that a viewer may get together.
    package typealias ID = UInt16

    package enum Kind: String, Sendable, Codable, CaseIterable {
        case video, audio
    }

    /// The encoding of a track, with what a player must know before the first unit.
    package enum Coding: Sendable, Hashable {
        /// Pictures. Each keyframe has its parameter sets.
        case video(Codec)
        case opus(OpusParameters)
        case aac(AACParameters)
    }

    /// The id of every session's video track.
    package static let videoID: ID = 0

    package let id: ID
    package let coding: Coding

    package init(id: ID, coding: Coding) {
        self.id = id
        self.coding = coding
    }

    /// Returns the track of a session's pictures.
    package static func video(_ codec: Codec) -> MediaTrack { MediaTrack(id: videoID, coding: .video(codec)) }

    package var kind: Kind {
        switch coding {
        case .video: .video
        case .opus, .aac: .audio
        }
    }

    /// The codec of a track of sound; `nil` for pictures.
    package var soundCodec: SoundCodec? {
        switch coding {
        case .video: nil
        case .opus: .opus
        case .aac: .aac
        }
    }

    /// Time units per second in containers. Everywhere else, times are in µs.
    package var timescale: UInt32 {
        switch coding {
        case .video: 1_000_000
        case .opus, .aac: SoundCodec.sampleRate
        }
    }

    /// Converts a time in units of ``timescale``, which must not be negative, to µs.
    package func microseconds(of ticks: Int64) -> Int64 {
        let scale = Int64(clamping: timescale)
        guard scale != 1_000_000 else { return ticks }
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: scale)
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        guard !overflow else { return .max }
        return whole &+ ((rest &* 1_000_000 &+ scale / 2).dividedReportingOverflow(by: scale).partialValue)
    }

    /// Converts a time or duration in µs, which must not be negative, to units of ``timescale``.
    package func ticks(of microseconds: Int64) -> UInt64 {
        let time = UInt64(clamping: microseconds)
        guard timescale != 1_000_000 else { return time }
        let (seconds, rest) = time.quotientAndRemainder(dividingBy: 1_000_000)
        let scale = UInt64(clamping: timescale)
        return seconds &* scale &+ (rest &* scale &+ 500_000) / 1_000_000
    }
}

extension [MediaTrack] {
    /// Returns the pictures, and the sound in one codec; `nil` for none.
    package func with(sound codec: SoundCodec?) -> [MediaTrack] {
        filter { $0.soundCodec == nil || $0.soundCodec == codec }
    }
}

/// The video coding of a session.
package enum Codec: String, Sendable, Codable, CaseIterable {
    /// ITU-T H.264, also named AVC.
    case h264
    /// ITU-T H.265, also named HEVC.
    case h265

    /// Returns the codec for a user's word, in any letter case: `h264`, `avc`, `h265` or `hevc`.
    package init?(named name: String) {
        switch name.lowercased() {
        case "h264", "avc": self = .h264
        case "h265", "hevc": self = .h265
        default: return nil
        }
    }
}
