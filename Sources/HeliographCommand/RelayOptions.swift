import ArgumentParser
import FoundationEssentials

/// Which relay to talk to.
struct RelayOptions: ParsableArguments {
    private static let environmentKey = "HELIOGRAPH_RELAY"
    private static let defaultURL = "http://127.0.0.1:8420"

    @Option(
        help: ArgumentHelp(
            "The relay's address. Default: HELIOGRAPH_RELAY from the environment, else \(Self.defaultURL).",
            valueName: "url"
        )
    )
    var relay: String?

    @Option(help: ArgumentHelp("The device.", valueName: "name"))
    var device = "default"

    /// The relay's address without a slash at its end.
    var url: String {
        let url = relay ?? ProcessInfo.processInfo.environment[Self.environmentKey] ?? Self.defaultURL
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }

    /// The device's name as a query's value.
    var encodedDevice: String {
        device.utf8.map { byte in
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

    func validate() throws {
        guard url.hasPrefix("http://") else {
            throw ValidationError("\(url) is not a relay's address, such as \(Self.defaultURL)")
        }
    }
}
