/// The secret that a caller of the API shows.
package struct APIKey: Sendable, CustomStringConvertible {
    /// What keys begin with, so that people and scanners for secrets know one when they see it.
    private static let prefix = "hgk_"
    /// Random bytes in one that is made here.
    private static let entropy = 32
    /// Longest key that is looked at, bytes.
    package static let maximumLength = 256
    /// The environment variable that carries it into clients. A command line would show it to every user of the machine.
    package static let environmentKey = "HELIOGRAPH_KEY"

    package let text: String

    /// Not the key: whoever prints it does not mean to.
    package var description: String { "an API key" }

    /// One that a caller shows, whether or not it is any good; nil when it cannot be one.
    package init?(_ text: some StringProtocol) {
        guard 1...Self.maximumLength ~= text.utf8.count,
            text.utf8.allSatisfy({ UInt8(ascii: "!")...UInt8(ascii: "~") ~= $0 })
        else { return nil }
        self.text = String(text)
    }

    private init(made text: String) { self.text = text }

    /// A new one: 256 random bits in hexadecimal behind the prefix.
    package static func random() -> APIKey {
        var generator = SystemRandomNumberGenerator()
        let bytes = (0..<Self.entropy).map { _ in generator.next() as UInt8 }
        return APIKey(made: prefix + Hexadecimal.text(of: bytes))
    }
}
