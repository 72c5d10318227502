import Media

/// What an MP3 file holds, found by reading it: where its frames are, and its tags.
package struct MP3Scan: Sendable, Equatable {
    package enum Failure: Error, Equatable, Sendable, CustomStringConvertible {
        /// There are no frames at the beginning.
        case notMP3
        case otherLayer
        case freeFormat
        case tooLong
        case damaged
        case unreadable

        package var description: String {
            switch self {
            case .notMP3: "It is not an MP3 file: no frames of sound follow its tags."
            case .otherLayer: "It is MPEG sound of layer I or II, not MP3."
            case .freeFormat: "It has frames of free format, whose length is not known."
            case .tooLong: "It has more than \(MP3Scan.mostFrames) frames."
            case .damaged: "Too many other bytes are between its frames."
            case .unreadable: "It cannot be read."
            }
        }
    }

    /// Reads up to `count` bytes at `offset`; `nil` if that fails. Fewer bytes mean that the file ends there.
    package typealias Read = (_ offset: UInt64, _ count: Int) -> [UInt8]?

    /// Of 24 hours.
    package static let mostFrames = 4_000_000

    /// In Hz.
    package let rate: Int
    package let channels: Int
    /// The samples of each frame: 1152, or 576 at rates below 32 kHz.
    package let frameSamples: Int
    /// Where each whole frame begins in the file. The one that only describes the others is not among them.
    package let offsets: [UInt64]
    /// The sizes of the frames.
    package let sizes: [UInt16]
    /// The samples that an encoder has put before and after the sound (LAME tag); 0 if it does not say.
    package let (delay, padding): (Int, Int)
    package let tags: MediaTags

    /// How many bytes without frames may come between two frames, or before the first one.
    private static let mostJunk: UInt64 = 64 << 10
    /// How many there may be in all. Each gap counts as 1 KiB at least.
    private static let mostJunkInAll: UInt64 = 1 << 20

    /// - Parameter size: The file's size.
    package init(size: UInt64, read: @escaping Read) throws(Failure) {
        let ends = try MP3Tags(size: size, read)
        tags = ends.tag.tags
        var reader = FrameReader(offset: ends.begin, end: ends.end, read: read)
        guard let first = try reader.first() else { throw .notMP3 }
        (rate, channels, frameSamples) = (first.frame.rate, first.frame.channels, first.frame.samples)
        var (offsets, sizes): ([UInt64], [UInt16]) = ([], [])
        let note = try reader.note(of: first)
        (delay, padding) = note?.trim ?? (0, 0)
        if note != nil { reader.skip(first) }
        while let found = try reader.next(like: first.frame) {
            guard offsets.count < Self.mostFrames else { throw .tooLong }
            offsets.append(found.offset)
            sizes.append(UInt16(clamping: found.frame.size))
        }
        guard !offsets.isEmpty else { throw .notMP3 }
        (self.offsets, self.sizes) = (offsets, sizes)
    }

    /// The samples of all frames, per channel, less what the encoder has put around the sound.
    package var samples: Int { max(0, offsets.count &* frameSamples &- delay &- padding) }

    /// In µs.
    package var duration: Int64 { Int64(clamping: samples) * 1_000_000 / Int64(clamping: rate) }

    /// A frame in the file.
    private struct Place {
        let offset: UInt64
        let frame: MP3Frame

        var end: UInt64 { offset &+ UInt64(clamping: frame.size) }
    }

    /// The first frame if it only describes the others.
    private struct Note {
        let trim: (delay: Int, padding: Int)
    }

    /// Reads frame after frame.
    private struct FrameReader {
        /// How much of the file is in memory.
        private static let chunk = 256 << 10

        private var offset: UInt64
        private let end: UInt64
        private let read: Read
        private var bytes: [UInt8] = []
        /// Where ``bytes`` begin in the file.
        private var base: UInt64 = 0
        private var junk: UInt64 = 0

        init(offset: UInt64, end: UInt64, read: @escaping Read) {
            (self.offset, self.end, self.read) = (offset, end, read)
        }

        /// Finds the first frame: one that another one follows, or the end of the file.
        mutating func first() throws(Failure) -> Place? {
            var fault: Failure?
            for candidate in stride(from: offset, to: min(end, offset &+ MP3Scan.mostJunk), by: 1) {
                guard let header = try header(at: candidate) else { break }
                guard header >> 21 == 0x7FF else { continue }
                let frame: MP3Frame
                do throws(MP3Frame.Fault) {
                    frame = try MP3Frame(header)
                } catch {
                    // What looks like another format at the very beginning is.
                    if candidate == offset {
                        fault = error == .otherLayer ? .otherLayer : error == .freeFormat ? .freeFormat : nil
                    }
                    continue
                }
                let place = Place(offset: candidate, frame: frame)
                guard try isFollowed(place) else { continue }
                offset = candidate
                return place
            }
            if let fault { throw fault }
            return nil
        }

        /// Returns the next frame of a stream, or the next one after other bytes. `nil` at the end: the last frame is
        /// left out if the file ends in it.
        mutating func next(like first: MP3Frame) throws(Failure) -> Place? {
            if let place = try frame(at: offset, like: first) {
                guard place.end <= end else { return nil }
                offset = place.end
                return place
            }
            let begin = offset
            for candidate in stride(from: begin, to: min(end, begin &+ MP3Scan.mostJunk), by: 1) {
                guard let place = try frame(at: candidate, like: first), try isFollowed(place) else { continue }
                junk &+= max(candidate &- begin, 1 << 10)
                guard junk <= MP3Scan.mostJunkInAll else { throw .damaged }
                offset = place.end
                return place
            }
            return nil
        }

        mutating func skip(_ place: Place) { offset = place.end }

        /// Returns what the first frame says of the others (Xing, LAME and Fraunhofer); `nil` if it is sound.
        mutating func note(of place: Place) throws(Failure) -> Note? {
            let count = min(place.frame.size, 400)
            guard let bytes = try bytes(at: place.offset, count: count) else { return nil }
            return bytes.read { bytes -> Note? in
                // `VBRI` is at the same place whatever the side information.
                if bytes.part(from: MP3Frame.headerSize &+ 32, count: 4).bytes == Array("VBRI".utf8) {
                    return Note(trim: (0, 0))
                }
                // The tag is where the side information would end without a checksum.
                let sides = [place.frame.sideSize, place.frame.sideSize &- 2]
                for side in sides {
                    var tag = bytes.part(from: MP3Frame.headerSize &+ side, count: count)
                    guard let name = tag.take(4)?.bytes, [Array("Xing".utf8), Array("Info".utf8)].contains(name),
                        let flags = tag.u32()
                    else { continue }
                    // The number of frames, of bytes, a table, and the quality.
                    for (flag, size) in [(1, 4), (2, 4), (4, 100), (8, 4)] as [(UInt32, Int)] where flags & flag != 0 {
                        tag.skip(size)
                    }
                    // The encoder's name and other fields, then 12 bits each.
                    guard tag.skip(21), let high = tag.u16(), let low = tag.u8() else { return Note(trim: (0, 0)) }
                    let both = UInt32(clamping: high) << 8 | UInt32(clamping: low)
                    return Note(trim: (Int(clamping: both >> 12), Int(clamping: both & 0xFFF)))
                }
                return nil
            }
        }

        /// Whether a frame of the same stream follows, or the file ends with this one.
        private mutating func isFollowed(_ place: Place) throws(Failure) -> Bool {
            let after = place.end
            if after == end { return true }
            return try frame(at: after, like: place.frame) != nil
        }

        private mutating func frame(at place: UInt64, like first: MP3Frame) throws(Failure) -> Place? {
            guard let header = try header(at: place), let frame = try? MP3Frame(header), frame.continues(first) else {
                return nil
            }
            return Place(offset: place, frame: frame)
        }

        private mutating func header(at place: UInt64) throws(Failure) -> UInt32? {
            try bytes(at: place, count: MP3Frame.headerSize)?.read { bytes in
                var bytes = bytes
                return bytes.u32()
            }
        }

        /// Returns bytes of the file; `nil` if it ends before.
        private mutating func bytes(at place: UInt64, count: Int) throws(Failure) -> [UInt8]? {
            guard place <= end, UInt64(clamping: count) <= end &- place else { return nil }
            var start = place &- base
            if place < base || start &+ UInt64(clamping: count) > UInt64(clamping: bytes.count) {
                guard let more = read(place, Self.chunk) else { throw .unreadable }
                (bytes, base, start) = (more, place, 0)
            }
            let part = bytes.read { $0.part(from: Int(clamping: start), count: count).bytes }
            return part.count == count ? part : nil
        }
    }
}
