/// Supplemental enhancement information, which H.264 (7.3.2.3) and H.265 (7.3.2.4) write alike.
enum SupplementalInformation {
    /// The `payloadType` of each message of a unit. What cannot be read ends the list.
    ///
    /// - Parameters:
    ///   - unit: The NAL unit, from its header on.
    ///   - headerWidth: Bits of the NAL unit header.
    static func payloadTypes(unit: ArraySlice<UInt8>, headerWidth: Int) -> [Int] {
        // Without the zeros that may follow a unit the stop bit's byte is the last, and too little for a message.
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

    /// `last_payload_type_byte` or `last_payload_size_byte` behind bytes of 255.
    private static func readNumber(_ reader: inout BitReader) throws(BitstreamError) -> Int {
        var number = 0
        while true {
            let byte = try reader.u(8)
            number &+= byte
            if byte < 255 { return number }
        }
    }
}
