package import Media

/// A number that an access unit carries through every format, to identify a viewer's pictures.
///
/// It is in user data that decoders ignore (`user_data_unregistered`, H.264 D.1.7, H.265 D.2.7).
package enum Marker {
    /// The identifier before the number, which no stream contains by chance.
    private static let identifier: [UInt8] = [
        0xF5, 0x7A, 0x21, 0xC3, 0x9E, 0x44, 0x4B, 0xD8, 0xB1, 0x5C, 0x88, 0xE7, 0x63, 0x2F, 0xA6, 0x91,
    ]
    /// Seven bits in each byte, whose first bit is set, so that no start code can occur.
    private static let digits = 8
    /// The size of the identifier and the number.
    static let byteCount = identifier.count + digits

    package struct Place: Equatable {
        package let number: UInt64
        /// The identifier's offset in the bytes.
        let offset: Int
    }

    /// Returns a NAL unit with that number, which must be less than 2^56, and its start code.
    package static func unit(_ number: UInt64, codec: Codec) -> [UInt8] {
        let header: [UInt8] = codec == .h264 ? [0x06] : [0x4E, 0x01]
        let payload = identifier + (0..<digits).map { 0x80 | UInt8(number >> UInt64(7 * $0) & 0x7F) }
        return [0, 0, 0, 1] + header + [5, UInt8(payload.count)] + payload + [0x80]
    }

    /// Returns the first complete marker at or after `start`.
    ///
    /// Access units can also be cut within their markers. In a byte stream, the next unit follows there, and its start
    /// code has zeros where digits would be.
    package static func find(in bytes: [UInt8], from start: Int = 0) -> Place? {
        let offset = bytes.withUnsafeBufferPointer { bytes -> Int? in
            var place = start
            while place + byteCount <= bytes.count {
                let digits = place + identifier.count
                if bytes[place] == identifier[0], bytes[place..<digits].elementsEqual(identifier),
                    bytes[digits..<(place + byteCount)].allSatisfy({ $0 & 0x80 != 0 })
                {
                    return place
                }
                place += 1
            }
            return nil
        }
        guard let offset else { return nil }
        let number = (0..<digits).reduce(UInt64(0)) {
            $0 | UInt64(bytes[offset + identifier.count + $1] & 0x7F) << UInt64(7 * $1)
        }
        return Place(number: number, offset: offset)
    }

    /// Overwrites all markers, because they no longer identify the bytes.
    static func erase(in bytes: inout [UInt8]) {
        while let place = find(in: bytes) { bytes[place.offset] = 0xF4 }
    }
}
