/// A multivariant playlist of HLS (RFC 8216, 4.3.4): the same pictures with each codec of sound, because a player uses
/// the first variant that it can decode.
package struct MultivariantPlaylist: Sendable {
    /// In bit/s: of the segment with the most, and of all.
    package let (peakRate, averageRate): (UInt64, UInt64)
    /// The formats of the pictures (RFC 6381).
    package let codecs: [String]
    /// The tracks of sound, the preferred one first, with their formats.
    package let sounds: [(track: MediaPlaylist.Track, codec: String)]
    /// In pixels.
    package let (width, height): (Int64, Int64)
    /// Pictures per second.
    package let fps: Double

    package init(
        rates: (peak: UInt64, average: UInt64),
        codecs: [String],
        size: (width: Int64, height: Int64),
        fps: Double,
        sounds: [(track: MediaPlaylist.Track, codec: String)]
    ) {
        (peakRate, averageRate) = rates
        (width, height) = size
        (self.codecs, self.fps, self.sounds) = (codecs, fps, sounds)
    }

    /// - Parameter address: Returns the address of a track's playlist.
    package func text(_ address: (MediaPlaylist.Track) -> String) -> String {
        var lines = ["#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS"]
        for sound in sounds {
            lines.append(
                "#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID=\"\(sound.track.rawValue)\",NAME=\"Desktop\",DEFAULT=YES"
                    + ",AUTOSELECT=YES,CHANNELS=\"2\",URI=\"\(address(sound.track))\""
            )
        }
        for sound in sounds { lines += [variant(with: sound), address(.video)] }
        if sounds.isEmpty { lines += [variant(with: nil), address(.video)] }
        return lines.joined(separator: "\n") + "\n"
    }

    private func variant(with sound: (track: MediaPlaylist.Track, codec: String)?) -> String {
        let codecs = codecs + [sound?.codec].compactMap(\.self)
        var attributes = [
            "BANDWIDTH=\(max(1, peakRate))", "AVERAGE-BANDWIDTH=\(max(1, averageRate))",
            "CODECS=\"\(codecs.joined(separator: ","))\"", "RESOLUTION=\(width)x\(height)",
        ]
        if let thousandths = UInt64(exactly: (fps * 1000).rounded()), thousandths > 0 {
            attributes.append("FRAME-RATE=\(thousandths / 1000).\(String(1000 &+ thousandths % 1000).dropFirst())")
        }
        if let sound { attributes.append("AUDIO=\"\(sound.track.rawValue)\"") }
        return "#EXT-X-STREAM-INF:" + attributes.joined(separator: ",")
    }
}
