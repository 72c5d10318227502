package import Media
import NIOCore

/// Fills the silent stretches of a track of sound with packets of silence, because players wait for a track that has
/// nothing.
///
/// A picture shows how far the time is. Sound may still be on its way then, so the filling ends a little before the
/// picture; earlier if no silence was told, because the sound may be late.
package struct SilenceFill: Sendable {
    // All times and durations here are in thirds of a µs, because 1,024 samples are 21,333⅓ µs.
    private static let scale: Int64 = 3

    /// How long before a picture the filling ends in a silence that was told, besides the duration of a packet and what
    /// the encoder looks ahead.
    private static let delay: Int64 = 40_000 * scale
    /// The same otherwise.
    private static let patience: Int64 = 1_000_000 * scale
    /// The longest stretch that is filled at once.
    private static let longest: Int64 = 10_000_000 * scale

    /// The codec of the track.
    package let codec: SoundCodec
    /// Whether players count the packets, because they get no times.
    private let isCounted: Bool
    /// The end of the track's last packet; `nil` before the first picture.
    private var end: Int64?
    private var isSilent = true
    /// The duration of the track's packets.
    private var packetDuration: Int64

    /// - Parameter isCounted: Whether players count the packets, because they get no times. Then the filling ends where
    ///   the count is best.
    package init(_ codec: SoundCodec, isCounted: Bool = false) {
        (self.codec, self.isCounted) = (codec, isCounted)
        packetDuration = Self.duration(of: codec.silenceDuration)
    }

    /// What an encoder needs of the samples that follow a packet's sound, unless it is little.
    private var lookahead: Int64 {
        switch codec {
        case .opus: 0
        case .aac: Self.duration(of: 2 * AACParameters.packetSamples)
        }
    }

    private static func duration(of samples: UInt32) -> Int64 { Int64(clamping: samples) &* 125 &* scale / 6 }

    /// Returns the packets to put in before a unit; `nil` if the unit comes too late.
    mutating func packets(before unit: MediaUnit, of track: MediaTrack) -> [MediaUnit]? {
        let times: [Int64]?
        if unit.isVideo {
            times = self.times(before: unit.pts)
        } else {
            times = unit.samples.flatMap { self.times(before: unit.header, lasting: $0) }
        }
        return times.map { $0.map { MediaUnit(codec.silence, at: $0, in: codec, of: track, like: unit) } }
    }

    /// Returns the times of the packets to put in before a picture.
    package mutating func times(before pts: Int64) -> [Int64] {
        let time = pts &* Self.scale
        guard end != nil else {
            end = time
            return []
        }
        return fill(to: time &- (isSilent ? packetDuration &+ lookahead &+ Self.delay : Self.patience))
    }

    /// Returns the times of the packets to put in before a packet; `nil` if the packet comes too late.
    ///
    /// - Parameter samples: The packet's duration, in samples at 48 kHz.
    package mutating func times(before header: UnitHeader, lasting samples: UInt32) -> [Int64]? {
        let (time, duration) = (header.pts &* Self.scale, Self.duration(of: samples))
        // Half of the packet may overlap: players trim it.
        guard let end, time &+ duration / 2 >= end else { return nil }
        let times = fill(to: isCounted ? time &+ duration / 2 : time)
        self.end = (isCounted ? self.end ?? end : time) &+ duration
        (isSilent, packetDuration) = (header.flags.contains(.silence), duration)
        return times
    }

    /// Fills up to a time at most.
    private mutating func fill(to limit: Int64) -> [Int64] {
        let duration = Self.duration(of: codec.silenceDuration)
        guard let end, limit &- end >= duration else { return [] }
        // After a long time without pictures, players resume at the picture.
        var (time, times) = (max(end, limit &- Self.longest), [Int64]())
        while limit &- time >= duration {
            times.append(time / Self.scale)
            time = time &+ duration
        }
        self.end = time
        isSilent = true
        return times
    }
}

extension MediaUnit {
    /// Creates a packet of silence.
    ///
    /// - Parameters:
    ///   - pts: Its PTS in µs.
    ///   - unit: The unit that it is made for.
    fileprivate convenience init(
        _ silence: [UInt8],
        at pts: Int64,
        in codec: SoundCodec,
        of track: MediaTrack,
        like unit: MediaUnit
    ) {
        var header = unit.header
        (header.track, header.pts, header.flags) = (track.id, pts, [.key, .silence])
        (header.size, header.orientation, header.geometry) = (PictureSize(width: 0, height: 0), 0, 0)
        let packet = EncodedUnit(header, ByteBuffer(bytes: silence))
        // The first codec is that of pictures.
        self.init(packet, codec: .h264, sound: codec, from: unit.feed, relayed: unit.relayed)
    }
}
