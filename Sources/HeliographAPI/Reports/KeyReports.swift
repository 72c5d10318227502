/// The keys that a relay knows.
package struct KeyList: APIModel {
    package var access = false
    package var keys: [KeyReport] = []

    package init() {}

    package static let schema = Schema.report(
        "Keys",
        [Field("access", .bool, "Whether calls need keys."), Field("keys", .array(of: KeyReport.schema))]
    )
}

/// A key, without the key itself.
package struct KeyReport: APIModel {
    package var name = ""
    package var role = ""
    package var devices: [String]?
    package var library: [String] = []
    package var created = ""
    package var expires: String?
    package var fingerprint: String?

    package init() {}

    static let fields = [
        Field("name", .text), Field("role", .role),
        Field("devices", Schema.array(of: .text).orNull, "The devices that it is for; null for all."),
        Field("library", .array(of: .libraryRight), "What its holder may do in the library."),
        Field("created", .date), Field("expires", Schema.date.orNull, "When it ends; null for never."),
        Field(
            "fingerprint",
            Schema.text.orNull,
            "The SHA-256 of the certificate that its holder shows, for a client that has paired; null for a key."
        ),
    ]

    package static let schema = Schema.report("Key", fields)
}

/// A key that was just made.
package struct MadeKey: APIModel {
    package var name = ""
    package var role = ""
    package var devices: [String]?
    package var library: [String] = []
    package var created = ""
    package var expires: String?
    package var fingerprint: String?
    package var key = ""

    package init() {}

    package static let schema = Schema.report(
        "MadeKey",
        KeyReport.fields + [Field("key", .text, "The key. The relay keeps only its hash, and cannot show it again.")]
    )
}

/// A PIN for one client.
package struct ArmedPairing: APIModel {
    package var pin = ""
    package var until = ""
    package var seconds = 0

    package init() {}

    package static let schema = Schema.report(
        "ArmedPairing",
        [
            Field("pin", .text, "The digits to type at the client. They are good for one guess."),
            Field("until", .date), Field("seconds", .count, "How long that is."),
        ]
    )
}

/// What has become of the last PIN.
package struct PairingReport: APIModel {
    package enum State: String, Sendable, CaseIterable {
        case nothing = "none"
        case armed, pairing, paired
        case wrongPIN = "wrong_pin"
        case expired, cancelled, failed

        /// Whether it may still change without another PIN.
        package var isOpen: Bool { self == .armed || self == .pairing }
    }

    package var state = ""
    package var until: String?
    package var name: String?

    package init() {}

    package static let schema = Schema.report(
        "Pairing",
        [
            Field(
                "state",
                .words(State.self),
                "`armed` waits for a client; `pairing` keeps one that knew it; `wrong_pin`: a client did not know it, and it is burnt; `failed`: the client was not kept, and the relay's log says why; `none`: there was none."
            ),
            Field("until", Schema.date.orNull, "Until when a PIN is armed; null if none is."),
            Field("name", Schema.text.orNull, "The client that has paired; null for none."),
        ]
    )
}

/// The relay's answer to a client's share.
package struct PairingAnswer: APIModel {
    package var share = ""

    package init() {}

    package static let schema = Schema.report(
        "PairingAnswer",
        [Field("share", .text, "The relay's share of the exchange, as the client's.")]
    )
}

/// The relay's answer to a client that knows the PIN.
package struct PairedClient: APIModel {
    package var proof = ""
    package var name = ""
    package var role = ""
    package var expires: String?

    package init() {}

    package static let schema = Schema.report(
        "PairedClient",
        [
            Field("proof", .text, "The relay's code, which proves that it knows the PIN, too."),
            Field("name", .text, "How the relay calls the client. A number is added if another one has its name."),
            Field("role", .role), Field("expires", Schema.date.orNull, "When it must pair again; null for never."),
        ]
    )
}

extension Schema {
    static let role = words("viewer", "controller", "operator")
    static let libraryRight = words("look", "record", "delete")
}
