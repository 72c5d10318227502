import FoundationEssentials

/// The relay's certificate as the API shows it.
enum TLSReport {
    /// Null where nothing is encrypted.
    static func json(_ tls: TLSServer?) -> JSONValue {
        guard let description = tls?.description else { return nil }
        return [
            "fingerprint": .string(description.fingerprint),
            "selfSigned": .bool(description.isSelfSigned),
            "expires": .string(description.expires.formatted(.iso8601)),
        ]
    }
}
