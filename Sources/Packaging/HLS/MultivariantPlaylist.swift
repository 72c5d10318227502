/// A multivariant playlist of HLS with one variant (RFC 8216, 4.3.4).
package struct MultivariantPlaylist: Sendable, Equatable {
    /// In bit/s: of the segment with the most, and of all.
    package let (peakRate, averageRate): (UInt64, UInt64)
    /// The formats of all tracks (RFC 6381).
    package let codecs: [String]
    /// In pixels.
    package let (width, height): (Int64, Int64)
    /// Pictures per second.
    package let fps: Double
    /// Whether there is sound.
    package let hasSound: Bool

    package init(
        rates: (peak: UInt64, average: UInt64),
        codecs: [String],
        size: (width: Int64, height: Int64),
        fps: Double,
        hasSound: Bool
    ) {
        (peakRate, averageRate) = rates
        (width, height) = size
        (self.codecs, self.fps, self.hasSound) = (codecs, fps, hasSound)
    }

    /// - Parameter address: Returns the address of a track's playlist.
    package func text(_ address: (MediaPlaylist.Track) -> String) -> String {
        var attributes = [
            "BANDWIDTH=\(max(1, peakRate))", "AVERAGE-BANDWIDTH=\(max(1, averageRate))",
            "CODECS=\"\(codecs.joined(separator: ","))\"", "RESOLUTION=\(width)x\(height)",
        ]
        if let thousandths = UInt64(exactly: (fps * 1000).rounded()), thousandths > 0 {
            attributes.append("FRAME-RATE=\(thousandths / 1000).\(String(1000 &+ thousandths % 1000).dropFirst())")
        }
        if hasSound { attributes.append("AUDIO=\"sound\"") }
        let sound = [
            "TYPE=AUDIO", "GROUP-ID=\"sound\"", "NAME=\"Desktop\"", "DEFAULT=YES", "AUTOSELECT=YES", "CHANNELS=\"2\"",
            "URI=\"\(address(.audio))\"",
        ]
        return [
            "#EXTM3U", "#EXT-X-VERSION:7", "#EXT-X-INDEPENDENT-SEGMENTS",
            hasSound ? "#EXT-X-MEDIA:" + sound.joined(separator: ",") : nil,
            "#EXT-X-STREAM-INF:" + attributes.joined(separator: ","),
            address(.video),
        ].compactMap { $0 }.joined(separator: "\n") + "\n"
    }
}
