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

    package init() {}

    static let fields = [
        Field("name", .text), Field("role", .role),
        Field("devices", Schema.array(of: .text).orNull, "The devices that it is for; null for all."),
        Field("library", .array(of: .libraryRight), "What its holder may do in the library."),
        Field("created", .date),
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
    package var key = ""

    package init() {}

    package static let schema = Schema.report(
        "MadeKey",
        KeyReport.fields + [Field("key", .text, "The key. The relay keeps only its hash, and cannot show it again.")]
    )
}

extension Schema {
    static let role = words("viewer", "controller", "operator")
    static let libraryRight = words("look", "record", "delete")
}
