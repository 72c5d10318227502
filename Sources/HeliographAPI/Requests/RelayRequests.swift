/// The body of POST /auth/login.
package struct Login: APIModel {
    package var key = ""

    package init() {}

    package static let schema = Schema.request(
        "Login",
        [Field("key", .string(0...256), "An API key, as `heliograph keys make` prints it.", isRequired: true)]
    )
}

/// The body of POST /drain.
package struct DrainRequest: APIModel {
    package var timeout: Double?

    package init() {}
    package init(timeout: Double?) { self.timeout = timeout }

    package static let schema = Schema.request(
        "DrainRequest",
        [
            Field(
                "timeout",
                .number(0...86_400),
                "After how many seconds the relay ends, even if viewers remain. Default: never."
            )
        ]
    )
}

/// The arguments of a call that takes none.
package struct NoArguments: APIModel {
    package init() {}
    package static let schema = Schema.request("NoArguments", "There are none.", [])
}

/// The device that a call is about.
package struct DeviceArgument: APIModel {
    package var device: String?

    package init() {}
    package init(device: String?) { self.device = device }

    package static let schema = Schema.request("DeviceArgument", [Field("device", .device)])
}

/// The body of a call that makes a signed link.
package struct SignedLinkRequest: APIModel {
    package var ttl = 3600
    package var act = false

    package init() {}

    package static let schema = Schema.request(
        "SignedLinkRequest",
        [
            Field("ttl", .integer(1...2_592_000).default(3600), "After how many seconds the link ends."),
            Field(
                "act",
                .bool.default(false),
                """
                Whether viewers over the link's WebSocket may also act on the screen. The caller's key needs the role \
                controller, and the link cannot be for an item of the library.
                """
            ),
        ]
    )
}
