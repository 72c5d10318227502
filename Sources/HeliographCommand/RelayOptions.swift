import ArgumentParser

/// Which relay to talk to, and about which device.
struct RelayOptions: ParsableArguments {
    @OptionGroup var address: RelayAddress

    @Option(help: ArgumentHelp("The device. Default: default, or the relay's only one.", valueName: "name"))
    var device: String?

    /// The query that names the device, empty when none is named.
    var query: String { device.map { "?device=\(Self.encoded($0))" } ?? "" }

    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                return String(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                return "%" + (digits.count < 2 ? "0" : "") + digits
            }
        }.joined()
    }
}
