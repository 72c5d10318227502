import Foundation
package import Media

/// A tone in AAC-LC, as ffmpeg encodes it.
package struct AACSource: Sendable {
    package let track: MediaTrack
    /// Packets of 1,024 samples each.
    package let packets: [[UInt8]]

    package init(seconds: Double, track id: MediaTrack.ID, scratch: Scratch) throws {
        let file = scratch.file("tone.aac")
        try Tone.write(["-c:a", "aac", "-f", "adts"], seconds: seconds, to: file)
        track = MediaTrack(id: id, coding: .aac(.stereo))
        packets = Self.packets(ofADTS: [UInt8](try Data(contentsOf: file)))
    }

    /// The packets as units of the track, from a PTS on.
    package func units(from pts: Int64) -> [AccessUnit] {
        Tone.units(packets, of: track, samples: 1024, from: pts)
    }

    /// The packets of a stream whose headers have seven bytes (ISO/IEC 13818-7, 6.2).
    package static func packets(ofADTS bytes: [UInt8]) -> [[UInt8]] {
        var (packets, place): ([[UInt8]], Int) = ([], 0)
        while place + 7 <= bytes.count, bytes[place] == 0xFF, bytes[place + 1] & 0xF1 == 0xF1 {
            let length = Int(bytes[place + 3] & 3) << 11 | Int(bytes[place + 4]) << 3 | Int(bytes[place + 5]) >> 5
            guard length > 7, place + length <= bytes.count else { break }
            packets.append(Array(bytes[(place + 7)..<(place + length)]))
            place += length
        }
        return packets
    }
}
