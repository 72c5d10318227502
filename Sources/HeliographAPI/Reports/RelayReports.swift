/// The holder of a call's key, and the relay that answers.
package struct CallerReport: APIModel {
    package var access = false
    package var name: String?
    package var role: String?
    package var devices: [String]?
    package var library: [String] = []
    package var host = ""
    package var release = ""
    package var tls: CertificateReport?
    package var tunnel: TunnelReport?

    package init() {}

    package static let schema = Schema.report(
        "Caller",
        [
            Field("access", .bool, "Whether calls need keys."), Field("name", .text.orNull, "The key's name."),
            Field("role", Schema.role.orNull, "`operator` if calls need no key."),
            Field("devices", Schema.array(of: .text).orNull, "The devices that the key is for; null for all."),
            Field("library", .array(of: .libraryRight), "What the caller may do in the library."),
            Field("host", .text, "The machine's name."), Field("release", .text, "The relay's."),
            Field("tls", CertificateReport.schema.orNull, "Null if nothing is encrypted."),
            Field("tunnel", TunnelReport.schema.orNull, "Null if the relay runs none."),
        ]
    )
}

/// The relay's tunnel.
package struct TunnelReport: APIModel {
    package var state = ""
    package var address: String?
    package var problem: String?

    package init() {}

    package static let schema = Schema.report(
        "Tunnel",
        [
            Field("state", .words("connecting", "up", "down")),
            Field("address", .text.orNull, "Null while it is not known."),
            Field("problem", .text.orNull, "Why it is down, and what to do. The relay tries again."),
        ]
    )
}

/// A relay that announces itself in the local network.
package struct NearbyRelay: APIModel, Equatable {
    package var url = ""
    package var name = ""
    package var host = ""
    package var id = ""
    package var release = ""
    package var fingerprint = ""
    package var requiresPairing = false

    package init() {}

    package static let schema = Schema.report(
        "NearbyRelay",
        [
            Field("url", .text, "Its address."), Field("name", .text, "Its name, for people."),
            Field("host", .text, "Its machine's name, such as `wall.local`."),
            Field("id", .text, "Stays the same while its machine and its port do."), Field("release", .text),
            Field("fingerprint", .text, "Of its certificate: SHA-256. Any machine can announce any."),
            Field("requiresPairing", .bool, "Whether it admits callers on other machines only if they have paired."),
        ]
    )
}

/// The relays in the local network.
package struct NearbyRelays: APIModel {
    package var relays: [NearbyRelay] = []
    package var problem: String?

    package init() {}

    package static let schema = Schema.report(
        "NearbyRelays",
        [
            Field("relays", .array(of: NearbyRelay.schema), "By name; this one, too, if it announces itself."),
            Field("problem", .text.orNull, "Why none can be found, and what to do; null if the network was asked."),
        ]
    )
}

/// Which tunnel the relay runs.
package struct TunnelState: APIModel {
    package var tunnel = ""
    package var status: TunnelReport?

    package init() {}

    package static let schema = Schema.report(
        "TunnelState",
        [
            Field("tunnel", .text, "`none`, `quick`, or `named:` and a name."),
            Field("status", TunnelReport.schema.orNull, "Null if there is none."),
        ]
    )
}

/// A signed link.
package struct SignedLinkReport: APIModel {
    package var base = ""
    package var page: String?
    package var expires = ""

    package init() {}

    package static let schema = Schema.report(
        "SignedLink",
        [
            Field(
                "base",
                .text,
                "The path to put before what you want to see, such as `live.m3u8` or `stream.mjpeg`. It ends with a slash."
            ),
            Field(
                "page",
                .text.orNull,
                "The path of a page that plays the session, or the device's shared one, for an iframe; null for an item."
            ),
            Field("expires", .date, "When the link ends."),
        ]
    )
}

/// The relay's certificate.
package struct CertificateReport: APIModel {
    package var fingerprint = ""
    package var selfSigned = false
    package var expires = ""

    package init() {}

    package static let schema = Schema.report(
        "Certificate",
        [
            Field("fingerprint", .text, "Its SHA-256, as `openssl x509 -fingerprint -sha256` prints it."),
            Field("selfSigned", .bool), Field("expires", .date, "When it expires."),
        ]
    )
}

package struct LoggedOut: APIModel {
    package var loggedOut = true

    package init() {}

    package static let schema = Schema.report("LoggedOut", [Field("loggedOut", .constant(true))])
}

/// The answer to a request for a keyframe.
package struct KeyframeRequested: APIModel {
    package var id: UInt32 = 0
    package var request: UInt32 = 0

    package init() {}

    package static let schema = Schema.report(
        "KeyframeRequest",
        [
            Field("id", .count(from: 1), "The session."),
            Field("request", .count, "The request's id on the agent link; requests while one is in flight share it."),
        ]
    )
}

package struct StoppedSession: APIModel {
    package var id: UInt32 = 0
    package var stopped = true

    package init() {}

    package static let schema = Schema.report(
        "StoppedSession",
        [Field("id", .count(from: 1), "The session."), Field("stopped", .constant(true))]
    )
}

package struct StoppedSessions: APIModel {
    package var stopped = 0

    package init() {}

    package static let schema = Schema.report("StoppedSessions", [Field("stopped", .count, "How many have ended.")])
}

/// The answer to a wait for a session's screen.
package struct ScreenEvent: APIModel {
    package var id: UInt32 = 0
    package var until = ""
    package var pts: Int64 = 0
    package var at = ""
    package var staticMs = 0.0
    package var waitedMs = 0.0

    package init() {}

    package static let schema = Schema.report(
        "ScreenEvent",
        [
            Field("id", .count(from: 1), "The session."), Field("until", .words(WaitQuery.Goal.self)),
            Field("pts", .anyInteger, "Of the last picture that differed from the one before it, µs."),
            Field("at", .date, "When the relay received it."),
            Field("staticMs", .figure, "From then to the answer, ms."),
            Field("waitedMs", .figure, "From the call to the answer, ms."),
        ]
    )
}

package struct Liveness: APIModel {
    package var status = "ok"
    package var release = ""

    package init() {}

    package static let schema = Schema.report("Liveness", [Field("status", .constant("ok")), Field("release", .text)])
}

/// The answer of a relay that is ready.
package struct ReadinessReport: APIModel {
    package var status = "ready"
    package var draining = false
    package var devices: [Device] = []

    package init() {}

    package static let schema = Schema.report(
        "Readiness",
        [Field("status", .constant("ready")), Field("draining", .constant(false)), Field("devices", devicesSchema)]
    )

    package static let devicesSchema = Schema(.array(of: Device.schema), named: "DevicesReadiness")

    package struct Device: APIModel {
        package var device = ""
        package var state = ""
        package var ready = false
        package var reason: String?

        package init() {}

        package static let schema = Schema.report(
            nil,
            [
                Field("device", .text), Field("state", .broadcastState), Field("ready", .bool),
                Field("reason", .words("no_source", "stale", "no_session").orNull, "Null if it is ready."),
            ]
        )
    }
}

/// The answer to a drain.
package struct Draining: APIModel {
    package var draining = true
    package var viewers = 0
    package var endsAt: String?

    package init() {}

    package static let schema = Schema.report(
        "Draining",
        [
            Field("draining", .constant(true)), Field("viewers", .count, "Viewers that remain."),
            Field("endsAt", .date.orNull, "When the relay ends at the latest; null for when they have gone."),
        ]
    )
}
