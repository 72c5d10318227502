import Media

/// A page of an Ogg stream (RFC 3533, section 6).
package struct OggPage: Sendable, Equatable {
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt8

        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The page begins with the rest of a packet.
        package static let continuation = Self(rawValue: 1)
        /// The stream's first page.
        package static let beginning = Self(rawValue: 2)
        /// The stream's last page.
        package static let end = Self(rawValue: 4)
    }

    static let magic: [UInt8] = Array("OggS".utf8)
    static let headerSize = 27
    /// The most bytes that one segment has. A packet ends with a segment that has fewer.
    private static let segment = 255

    package let flags: Flags
    /// The samples that end with the page, from the stream's beginning.
    package let position: Int64
    /// The stream's number.
    package let serial: UInt32
    /// The page's number in the stream.
    package let sequence: UInt32
    /// The whole page.
    package let bytes: [UInt8]

    /// The most segments of a page, and so the most packets.
    package static let mostSegments = 255

    /// Whether whole packets fit into one page.
    static func hasRoom(for packets: [some MediaBytes]) -> Bool {
        packets.reduce(0) { $0 + $1.byteCount / segment + 1 } <= mostSegments
    }

    /// Creates a page with whole packets, for which it has room.
    init(_ flags: Flags = [], position: Int64, serial: UInt32, sequence: UInt32, packets: [some MediaBytes]) {
        (self.flags, self.position, self.serial, self.sequence) = (flags, position, serial, sequence)
        let lacing = packets.flatMap { packet in
            repeatElement(.max, count: max(0, packet.byteCount / Self.segment))
                + [UInt8(clamping: packet.byteCount % Self.segment)]
        }
        let size = Self.headerSize + lacing.count + packets.reduce(0) { $0 + $1.byteCount }
        let page = { (checksum: UInt32) in
            [UInt8](byteCount: size) { writer in
                writer.put(Self.magic)
                writer.put(0)  // version
                writer.put(flags.rawValue)
                writer.put(littleEndian: position)
                writer.put(littleEndian: serial)
                writer.put(littleEndian: sequence)
                writer.put(littleEndian: checksum)
                writer.put(UInt8(clamping: lacing.count))
                writer.put(lacing)
                for packet in packets { packet.read { writer.put($0) } }
            }
        }
        bytes = page(CRC32.checksum(page(0), initial: 0))
    }

    /// The packets that the page has whole. One that continues from the page before, or on the next, is left out.
    package var packets: [[UInt8]] {
        bytes.read { (page: ByteReader) in
            var rest = page
            guard rest.skip(Self.headerSize - 1), let segments = rest.u8(),
                let lacing = rest.take(Int(clamping: segments))?.bytes
            else { return [] }
            var (packets, packet): ([[UInt8]], [UInt8]) = ([], [])
            var isWhole = !flags.contains(.continuation)
            for length in lacing {
                packet += rest.take(Int(clamping: length))?.bytes ?? []
                guard length < Self.segment else { continue }
                if isWhole { packets.append(packet) }
                (packet, isWhole) = ([], true)
            }
            return packets
        }
    }

    /// The stream's end after this page: a page without packets.
    package var ending: OggPage {
        OggPage(.end, position: position, serial: serial, sequence: sequence &+ 1, packets: [[UInt8]]())
    }
}
