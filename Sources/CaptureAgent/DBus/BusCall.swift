/// A method call with one number, as the bytes of a D-Bus message (specification, "Message Protocol"). A value.
///
/// For a connection that another process has opened.
package struct BusCall {
    private enum Field {
        static let path: UInt8 = 1
        static let interface: UInt8 = 2
        static let member: UInt8 = 3
        static let replySerial: UInt8 = 5
        static let destination: UInt8 = 6
        static let signature: UInt8 = 8
    }

    private static let methodCall: UInt8 = 1
    private static let noReplyExpected: UInt8 = 1
    private static let version: UInt8 = 1
    /// Beyond what the other process counts to.
    private static let serial = UInt32.max

    package var path: String
    package var destination: String
    package var interface: String
    package var member: String
    package var argument: UInt32
    /// Whether it asks for a reply, which goes to the process that reads next.
    package var wantsReply = false

    package init(path: String, destination: String, interface: String, member: String, argument: UInt32) {
        (self.path, self.destination, self.interface) = (path, destination, interface)
        (self.member, self.argument) = (member, argument)
    }

    package var bytes: [UInt8] {
        var fields: [UInt8] = []
        for (code, type, value) in [
            (Field.path, "o", path), (Field.destination, "s", destination), (Field.interface, "s", interface),
            (Field.member, "s", member),
        ] {
            Self.pad(&fields, to: 8)
            fields += [code, 1] + type.utf8 + [0]
            fields += Self.number(UInt32(value.utf8.count)) + value.utf8 + [0]
        }
        Self.pad(&fields, to: 8)
        fields += [Field.signature, 1] + "g".utf8 + [0, 1] + "u".utf8 + [0]
        let body = Self.number(argument)
        var message = [UInt8(ascii: "l"), Self.methodCall, wantsReply ? 0 : Self.noReplyExpected, Self.version]
        message += Self.number(UInt32(body.count)) + Self.number(Self.serial)
        // Its 16 bytes end where a field may begin.
        message += Self.number(UInt32(fields.count)) + fields
        Self.pad(&message, to: 8)
        return message + body
    }

    /// Returns whether a reply is among received bytes: the header of each names the call's serial.
    static func isAnswered(by bytes: [UInt8]) -> Bool {
        let field = [Field.replySerial, 1] + "u".utf8 + [0] + number(serial)
        return bytes.indices.contains { bytes[$0...].starts(with: field) }
    }

    private static func number(_ value: UInt32) -> [UInt8] { withUnsafeBytes(of: value.littleEndian) { Array($0) } }

    private static func pad(_ bytes: inout [UInt8], to multiple: Int) {
        while !bytes.count.isMultiple(of: multiple) { bytes.append(0) }
    }
}
