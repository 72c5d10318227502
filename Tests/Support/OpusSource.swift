import Foundation
package import Media

/// A tone in Opus, as ffmpeg and libopus encode it.
package struct OpusSource: Sendable {
    package let track: MediaTrack
    /// Packets of 20 ms each.
    package let packets: [[UInt8]]

    package init(seconds: Double, track id: MediaTrack.ID, scratch: Scratch) throws {
        let file = scratch.file("tone.ogg")
        try Tone.write(["-c:a", "libopus", "-frame_duration", "20", "-f", "ogg"], seconds: seconds, to: file)
        let found = Self.packets(ofOgg: [UInt8](try Data(contentsOf: file)))
        // The identification header (RFC 7845, 5.1), and the comments.
        guard found.count > 2, found[0].starts(with: Array("OpusHead".utf8)),
            let parameters = OpusParameters(
                channels: found[0][9],
                preSkip: UInt16(found[0][10]) | UInt16(found[0][11]) << 8
            )
        else { throw NeverCame(description: "no Opus stream in \(found.count) packets") }
        track = MediaTrack(id: id, coding: .opus(parameters))
        packets = Array(found.dropFirst(2))
    }

    /// The packets as units of the track, from a PTS on.
    package func units(from pts: Int64) -> [AccessUnit] {
        Tone.units(packets, of: track, samples: 960, from: pts)
    }

    /// The packets of an Ogg stream (RFC 3533, 6).
    private static func packets(ofOgg bytes: [UInt8]) -> [[UInt8]] {
        var (packets, packet, place): ([[UInt8]], [UInt8], Int) = ([], [], 0)
        while place + 27 <= bytes.count, bytes[place..<(place + 4)].elementsEqual("OggS".utf8) {
            let count = Int(bytes[place + 26])
            let lengths = bytes[(place + 27)..<(place + 27 + count)]
            place += 27 + count
            for length in lengths {
                packet += bytes[place..<(place + Int(length))]
                place += Int(length)
                guard length < 255 else { continue }
                packets.append(packet)
                packet = []
            }
        }
        return packets
    }
}
