/// Makes small PNG files (ISO/IEC 15948) of stored blocks, without a library.
package enum PNG {
    /// A picture of 8-bit red, green, blue and alpha.
    ///
    /// - Parameter pixel: The colour at a column and a row.
    package static func make(
        width: Int,
        height: Int,
        pixel: (_ x: Int, _ y: Int) -> (UInt8, UInt8, UInt8, UInt8) = { _, _ in (0, 0, 0, 255) }
    ) -> [UInt8] {
        var rows: [UInt8] = []
        for y in 0..<height {
            rows.append(0)
            for x in 0..<width {
                let (red, green, blue, alpha) = pixel(x, y)
                rows += [red, green, blue, alpha]
            }
        }
        var stream: [UInt8] = [0x78, 0x01]
        var rest = rows[...]
        repeat {
            let block = rest.prefix(65535)
            rest = rest.dropFirst(block.count)
            let length = UInt16(block.count)
            stream += [rest.isEmpty ? 1 : 0, UInt8(length & 255), UInt8(length >> 8)]
            stream += [UInt8(~length & 255), UInt8(~length >> 8)]
            stream += block
        } while !rest.isEmpty
        stream += bytes(adler32(rows))
        let head = bytes(UInt32(width)) + bytes(UInt32(height)) + [8, 6, 0, 0, 0]
        return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", head) + chunk("IDAT", stream)
            + chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return bytes(UInt32(data.count)) + body + bytes(crc32(body))
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
    }

    private static func adler32(_ bytes: [UInt8]) -> UInt32 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in bytes {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        return b << 16 | a
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        var crc = UInt32.max
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return ~crc
    }
}
