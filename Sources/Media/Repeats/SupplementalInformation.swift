/// Supplemental enhancement information, which has the same form in H.264 (7.3.2.3) and H.265 (7.3.2.4).
enum SupplementalInformation {
    /// Returns the `payloadType` of each message in a unit. The list ends at the first message that cannot be read.
    ///
    /// - Parameters:
    ///   - unit: The NAL unit, starting at its header.
    ///   - headerWidth: The number of bits of the NAL unit header.
    static func payloadTypes(unit: ArraySlice<UInt8>, headerWidth: Int) -> [Int] {
        // Without the zeros that may follow a unit, the last byte is that of the stop bit, which is too short for a
        // message.
        var reader = BitReader(unit.dropLast(unit.reversed().prefix { $0 == 0 }.count))
        var types: [Int] = []
        do throws(BitstreamError) {
            try reader.skip(headerWidth)
            while true {
                let type = try readNumber(&reader)
                try reader.skip(8 &* readNumber(&reader))
                types.append(type)
            }
        } catch {
            return types
        }
    }

    /// Reads `last_payload_type_byte` or `last_payload_size_byte` after bytes of 255.
    private static func readNumber(_ reader: inout BitReader) throws(BitstreamError) -> Int {
        var number = 0
        while true {
            let byte = try reader.u(8)
            number &+= byte
            if byte < 255 { return number }
        }
    }
}
