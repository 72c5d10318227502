import Foundation
import Media

/// A tone of 440 Hz in stereo at 48 kHz, for tests of a codec.
enum Tone {
    /// Encodes it with ffmpeg.
    ///
    /// - Parameter arguments: The codec and the format.
    static func write(_ arguments: [String], seconds: Double, to file: URL) throws {
        let tone = ["-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=\(seconds)", "-ac", "2"]
        _ = try Tool.run("/usr/bin/ffmpeg", ["-v", "error", "-y"] + tone + arguments + [file.path])
    }

    /// Returns packets as units of a track, from a PTS on.
    ///
    /// - Parameter samples: The samples of a packet.
    static func units(_ packets: [[UInt8]], of track: MediaTrack, samples: Int64, from pts: Int64) -> [AccessUnit] {
        packets.enumerated().map { index, packet in
            let header = UnitHeader(
                track: track.id,
                pts: pts + Int64(index) * samples * 1_000_000 / 48_000,
                captured: 0,
                encodeStart: 0,
                encodeEnd: 0,
                flags: [],
                size: PictureSize(width: 0, height: 0)
            )
            return AccessUnit(header, packet)
        }
    }
}
