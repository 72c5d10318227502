import NIOCore

/// The body of a broadcast's start.
struct BroadcastArguments: Sendable {
    private static let defaultTimeout = 15.0

    var device: String?
    var timeout: TimeAmount
    var source: SourceRequest?

    init(_ reader: inout ObjectReader) {
        device = reader.device()
        timeout = TimeAmount(seconds: reader.number("timeout", in: 0.1...120) ?? Self.defaultTimeout)
        source = reader.object("source", SourceRequest.init)
        reader.finish()
    }
}

extension ObjectReader {
    /// The name of the device that a call is about, nil when the call names none.
    mutating func device() -> String? { string("device", length: 0...100) }
}
