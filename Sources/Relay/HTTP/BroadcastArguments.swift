import NIOCore

/// The body of a broadcast's start.
package struct BroadcastArguments: Sendable {
    private static let defaultTimeout = 15.0

    var device: String?
    var timeout: TimeAmount
    var source: SourceRequest?
    /// s; nil for none.
    var ttl: Int?

    package init(_ reader: inout ObjectReader) {
        device = reader.device()
        timeout = TimeAmount(seconds: reader.number("timeout", in: 0.1...120) ?? Self.defaultTimeout)
        source = reader.object("source", SourceRequest.init)
        ttl = reader.ttl()
        reader.finish()
    }
}

extension ObjectReader {
    /// The name of the device that a call is about, nil when the call names none.
    mutating func device() -> String? { string("device", length: 0...100) }

    /// How long what a call starts may be without use before it ends by itself, s.
    static let lifetimes = 1...86_400

    /// After how long without use what a call starts ends by itself, s; nil for never.
    mutating func ttl() -> Int? { integer("ttl", in: Self.lifetimes) }
}
