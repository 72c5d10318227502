/// The body of a call that makes a key.
package struct KeyRequest: APIModel {
    package var name = ""
    package var role = "viewer"
    package var devices: [String]?
    package var library: [String]?

    package init() {}

    package static let schema = Schema.request(
        "KeyRequest",
        [
            Field("name", .shortName, "What lists and the log call it.", isRequired: true),
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
        ]
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
