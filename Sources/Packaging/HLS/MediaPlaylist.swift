package import Media

/// A media playlist of HLS (RFC 8216, 4.3).
package struct MediaPlaylist: Sendable, Equatable {
    /// Segments with one initialization segment.
    package struct Section: Sendable, Equatable {
        /// The address of the initialization segment.
        package let map: String
        /// When the first segment was captured, as RFC 3339 has it.
        package let date: String
        package let segments: [Segment]

        package init(map: String, date: String, segments: [Segment]) {
            (self.map, self.date, self.segments) = (map, date, segments)
        }
    }

    package struct Segment: Sendable, Equatable {
        package let address: String
        /// In µs, not longer than ``MovieSegments/longest``.
        package let duration: UInt64
        /// Whether there is nothing new in it, because pictures were lost.
        package let isGap: Bool

        package init(address: String, duration: UInt64, isGap: Bool = false) {
            (self.address, self.duration, self.isGap) = (address, duration, isGap)
        }
    }

    /// The name of a track in addresses. Sound is named by its codec.
    package enum Track: String, Sendable, CaseIterable {
        case video, opus, aac
        /// All of an item of music.
        case mp3

        /// - Returns: `nil` for sound in another codec.
        package init?(_ description: TrackDescription) {
            switch (description.kind, description.soundCodec) {
            case (.video, _): self = .video
            case (.audio, .opus): self = .opus
            case (.audio, .aac): self = .aac
            case (.audio, nil): return nil
            }
        }

        /// The codec of a recording's sound.
        package var soundCodec: SoundCodec? {
            switch self {
            case .opus: .opus
            case .aac: .aac
            case .video, .mp3: nil
            }
        }
    }

    /// The media type.
    package static let type = "application/vnd.apple.mpegurl"

    package let sections: [Section]
    /// Whether no segment will follow.
    package let isComplete: Bool

    package init(_ sections: [Section], isComplete: Bool) { (self.sections, self.isComplete) = (sections, isComplete) }

    package var text: String {
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS",
            "#EXT-X-TARGETDURATION:\(MovieSegments.longest / 1_000_000)",
            "#EXT-X-PLAYLIST-TYPE:\(isComplete ? "VOD" : "EVENT")",
        ]
        var map: String?
        for section in sections {
            if section.map != map {
                if map != nil { lines.append("#EXT-X-DISCONTINUITY") }
                lines.append("#EXT-X-MAP:URI=\"\(section.map)\"")
                map = section.map
            }
            lines.append("#EXT-X-PROGRAM-DATE-TIME:\(section.date)")
            for segment in section.segments {
                if segment.isGap { lines.append("#EXT-X-GAP") }
                lines.append("#EXTINF:\(Self.seconds(segment.duration)),")
                lines.append(segment.address)
            }
        }
        if isComplete { lines.append("#EXT-X-ENDLIST") }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns a duration in s with six digits.
    static func seconds(_ duration: UInt64) -> String {
        let (whole, rest) = duration.quotientAndRemainder(dividingBy: 1_000_000)
        return "\(whole).\(String(1_000_000 &+ rest).dropFirst())"
    }
}
