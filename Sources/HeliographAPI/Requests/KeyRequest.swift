/// What a caller wants the holder of a key, or a client that pairs, to be allowed.
package protocol KeyTermsRequest {
    var role: String { get }
    var devices: [String]? { get }
    var library: [String]? { get }
    /// After how many days it ends, of ``KeyRequest/dayCounts``; `nil` for never.
    var days: Int? { get }
}

/// The body of a call that makes a key.
package struct KeyRequest: APIModel, KeyTermsRequest {
    package static let dayCounts = 1...3650

    package var name = ""
    package var role = "viewer"
    package var devices: [String]?
    package var library: [String]?
    package var days: Int?

    package init() {}

    package static let schema = Schema.request(
        "KeyRequest",
        [Field("name", .shortName, "What lists and the log call it.", isRequired: true)] + terms
    )

    /// The fields of ``KeyTermsRequest``.
    fileprivate static let terms = [
        Field(
            "role",
            .role.default("viewer"),
            "`viewer` to watch, `controller` also to act on screens, `operator` also to make changes."
        ),
        Field("devices", .list(of: .shortName, 1...64), "The devices that it is for. Default: all."),
        Field(
            "library",
            .list(of: .libraryRight, 0...3),
            "What its holder may do in the library. Default: `look`, for an operator all."
        ),
        Field("days", .integer(dayCounts), "After how many days it ends. Default: never."),
    ]
}

/// The body of a call that arms pairing.
package struct PairingRequest: APIModel, KeyTermsRequest {
    package var role = "viewer"
    package var devices: [String]?
    package var library: [String]?
    package var days: Int?
    package var digits = 6

    package init() {}

    package static let schema = Schema.request(
        "PairingRequest",
        KeyRequest.terms + [Field("digits", .integer(4...8).default(6), "How many digits the PIN has.")]
    )
}

/// The body of the call with which a client begins to pair.
package struct PairingShare: APIModel {
    package var name = ""
    package var share = ""

    package init() {}

    package static let schema = Schema.request(
        "PairingShare",
        [
            Field("name", .shortName, "How the client wants to be called.", isRequired: true),
            Field(
                "share",
                .string(130...130),
                "The client's share of the exchange: a point of P-256, uncompressed, in hexadecimal.",
                isRequired: true
            ),
        ]
    )
}

/// The body of the call with which a client proves that it knows the PIN.
package struct PairingProof: APIModel {
    package var proof = ""

    package init() {}

    package static let schema = Schema.request(
        "PairingProof",
        [Field("proof", .string(64...64), "The client's code, in hexadecimal.", isRequired: true)]
    )
}

/// The body of a call that sets the tunnel.
package struct TunnelRequest: APIModel {
    package var tunnel = ""

    package init() {}

    package static let schema = Schema.request(
        "TunnelRequest",
        [
            Field(
                "tunnel",
                .string(1...100),
                "`none`, `quick`, or `named:` and the name of a tunnel of your account.",
                isRequired: true
            )
        ]
    )
}
