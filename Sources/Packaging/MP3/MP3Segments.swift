import Media

/// Segments of MP3 for HLS: packed audio (RFC 8216, 3.4), whole frames of about six seconds.
package struct MP3Segments: Sendable, Equatable {
    /// What a segment has at most, in s: the target duration.
    package static let longest = 6

    package struct Segment: Sendable, Equatable {
        /// Where its frames begin in the file.
        package let offset: UInt64
        /// How many bytes they have.
        package let length: UInt64
        package let frames: Int
        /// The samples before it.
        package let start: Int
    }

    package let segments: [Segment]
    private let frameSamples: Int
    private let rate: Int

    package init(_ scan: MP3Scan) {
        self.init(offsets: scan.offsets, sizes: scan.sizes, frameSamples: scan.frameSamples, rate: scan.rate)
    }

    /// - Parameters:
    ///   - offsets: Where the frames are in the file.
    ///   - sizes: The bytes of each frame.
    ///   - frameSamples: The samples of each frame.
    ///   - rate: Samples per second.
    package init(offsets: [UInt64], sizes: [UInt16], frameSamples: Int, rate: Int) {
        (self.frameSamples, self.rate) = (frameSamples, rate)
        let most = max(1, Self.longest &* rate / max(1, frameSamples))
        var segments: [Segment] = []
        var (begin, end, frames, start): (UInt64, UInt64, Int, Int) = (0, 0, 0, 0)
        func close() {
            guard frames > 0 else { return }
            segments.append(Segment(offset: begin, length: end &- begin, frames: frames, start: start))
            start &+= frames &* frameSamples
            frames = 0
        }
        for (offset, size) in zip(offsets, sizes) {
            // Bytes between two frames belong to no segment.
            if frames == most || frames > 0 && offset != end { close() }
            if frames == 0 { begin = offset }
            end = offset &+ UInt64(clamping: size)
            frames &+= 1
        }
        close()
        self.segments = segments
    }

    /// Returns the playlist.
    ///
    /// - Parameter address: Returns the address of a segment, which begins at a time in ticks of 90 kHz.
    package func playlist(_ address: (Segment, _ ticks: UInt64) -> String) -> String {
        var lines = [
            "#EXTM3U", "#EXT-X-VERSION:3", "#EXT-X-TARGETDURATION:\(Self.longest)", "#EXT-X-PLAYLIST-TYPE:VOD",
        ]
        for segment in segments {
            let length = UInt64(clamping: segment.frames &* frameSamples)
            lines.append("#EXTINF:\(MediaPlaylist.seconds(length &* 1_000_000 / UInt64(clamping: rate))),")
            lines.append(address(segment, UInt64(clamping: segment.start) &* 90_000 / UInt64(clamping: rate)))
        }
        lines.append("#EXT-X-ENDLIST")
        return lines.joined(separator: "\n") + "\n"
    }

    /// Returns the tag before a segment's frames, which says when they are due (RFC 8216, 3.4): an ID3 tag with a PRIV
    /// frame.
    ///
    /// - Parameter ticks: In 90 kHz. Its lower 33 bits count.
    package static func timestamp(_ ticks: UInt64) -> [UInt8] {
        let owner = Array("com.apple.streaming.transportStreamTimestamp".utf8)
        let size = owner.count &+ 1 &+ 8
        return [UInt8](byteCount: 10 &+ 10 &+ size) { writer in
            writer.put(Array("ID3".utf8))
            writer.put([4, 0, 0, 0, 0, 0, UInt8(clamping: 10 &+ size)])
            writer.put(Array("PRIV".utf8))
            writer.put([0, 0, 0, UInt8(clamping: size), 0, 0])
            writer.put(owner)
            writer.put([0])
            writer.put(bigEndian: ticks & (1 << 33 - 1))
        }
    }
}
