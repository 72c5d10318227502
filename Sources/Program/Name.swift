extension String {
    /// What a valid name consists of, for messages.
    package static let nameRule = "1 to 64 letters, digits, - and _"

    /// Whether it is a valid name of a device, a session or the like: ``nameRule``, all ASCII.
    package var isName: Bool {
        1...64 ~= utf8.count
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
