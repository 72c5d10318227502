package import Media
import NIOCore

/// Fills the silent stretches of a container's Opus track with packets of silence, because players wait for a track
/// that has nothing.
///
/// A picture shows how far the time is. Sound may still be on its way then, so the filling ends a little before the
/// picture; earlier if no silence was told, because the sound may be late.
package struct SilenceFill: Sendable {
    /// A packet of 20 ms of silence in stereo: one CELT frame with the silence flag (RFC 6716, sections 3.1 and 4.3).
    package static let packet: [UInt8] = [0xFC, 0xFF, 0xFE]
    /// Its duration in µs.
    package static let duration: Int64 = 20_000
    /// How long before a picture the filling ends: in a silence that was told, besides the duration of a packet, and
    /// otherwise. In µs.
    private static let (delay, patience): (Int64, Int64) = (40_000, 1_000_000)

    /// The longest stretch that is filled at once, µs.
    private static let longest: Int64 = 10_000_000

    /// The end of the track's last packet, µs; `nil` before the first picture.
    private var end: Int64?
    private var isSilent = true
    /// The duration of the track's packets, in µs.
    private var packetDuration = Self.duration

    package init() {}

    /// Returns the packets to put in before a unit; `nil` if the unit comes too late.
    mutating func packets(before unit: MediaUnit, of track: MediaTrack) -> [MediaUnit]? {
        let times: [Int64]?
        if unit.isVideo {
            times = self.times(before: unit.pts)
        } else {
            let packet = unit.bytes.read { OpusPacket($0) }
            times = packet.flatMap { self.times(before: unit.header, lasting: $0.microseconds) }
        }
        return times.map { $0.map { MediaUnit(silenceAt: $0, of: track, like: unit) } }
    }

    /// Returns the times of the packets to put in before a picture.
    package mutating func times(before pts: Int64) -> [Int64] {
        guard end != nil else {
            end = pts
            return []
        }
        return fill(to: pts &- (isSilent ? packetDuration &+ Self.delay : Self.patience))
    }

    /// Returns the times of the packets to put in before a packet; `nil` if the packet comes too late.
    ///
    /// - Parameter duration: The packet's duration in µs.
    package mutating func times(before header: UnitHeader, lasting duration: Int64) -> [Int64]? {
        // Half of the packet may overlap: players trim it.
        guard let end, header.pts &+ duration / 2 >= end else { return nil }
        let times = fill(to: header.pts)
        self.end = header.pts &+ duration
        (isSilent, packetDuration) = (header.flags.contains(.silence), duration)
        return times
    }

    /// Fills up to `pts` at most.
    private mutating func fill(to pts: Int64) -> [Int64] {
        guard let end, pts &- end >= Self.duration else { return [] }
        // After a long time without pictures, players resume at the picture.
        var (time, times) = (max(end, pts &- Self.longest), [Int64]())
        while pts &- time >= Self.duration {
            times.append(time)
            time = time &+ Self.duration
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
    fileprivate convenience init(silenceAt pts: Int64, of track: MediaTrack, like unit: MediaUnit) {
        var header = unit.header
        (header.track, header.pts, header.flags) = (track.id, pts, [.key, .silence])
        (header.size, header.orientation, header.geometry) = (PictureSize(width: 0, height: 0), 0, 0)
        let packet = EncodedUnit(header, ByteBuffer(bytes: SilenceFill.packet))
        // The codec is that of pictures.
        self.init(packet, codec: .h264, from: unit.feed, relayed: unit.relayed)
    }
}
