extension RelayConfiguration: Configurable {
    /// The relay's settings. To add one, add a line here and the property that it sets.
    package static let settings: [Setting<RelayConfiguration>] =
        listening + access + files + agents + viewers + connectionLimits + ofDevices + events

    private static let listening: [Setting<RelayConfiguration>] = [
        Setting("http", \.http, .endpoint, .atRestart) {
            "Where the HTTP API listens, and sessions' ports on the same address. Port 0 takes any free one. "
                + "Other addresses than loopback need [TLS and keys](#encryption-and-other-machines)."
        },
        Setting("agentLink", \.agentLink, .loopback, .atRestart) {
            "Where agents connect. Only loopback is allowed; port 0 takes any free one."
        },
        Setting("sessionPortBase", \.sessionPortBase, .port, .atRestart) {
            "The first TCP port for sessions that name none; 0 takes any free one. "
                + "The relay tries the next 1000, or as many as all devices may have sessions."
        },
        Setting("hide", \.isHidden, .bool, .atRestart) {
            "Does not announce the relay in the local network, where `heliograph discover` "
                + "[finds](../guide/keys-and-tls.md#find-relays) it. A relay on loopback is never announced."
        },
    ]

    private static let access: [Setting<RelayConfiguration>] = [
        Setting("tls", \.tls, .tls, .atRestart) {
            "How connections of callers and viewers are [encrypted](#encryption-and-other-machines): `none`, "
                + "`self-signed` for a certificate that the relay makes once, or a certificate and its key."
        },
        Setting("tunnel", \.tunnel, .tunnel, .atRestart) {
            "A way in from the internet by [cloudflared](../guide/tunnel.md), which needs keys: `quick` for an address that "
                + "Cloudflare chooses at each start, or `named:` and the name of a tunnel of your account."
        },
        Setting("tunnelExecutable", \.tunnelExecutable, .path, .atRestart, default: "`cloudflared` on PATH") {
            "The path of cloudflared."
        },
        Setting("keysFile", \.keysFile, .pathOrNone, .atRestart, default: "`$XDG_STATE_HOME/heliograph/keys.json`") {
            "The file of the [keys](#keys) that `heliograph keys` makes. Calls need one of them. "
                + "With `none`, and without a home directory, calls need no key."
        },
        Setting("requirePairing", \.requiresPairing, .bool, .atRestart) {
            "Admits callers on other machines only if they [have paired](../guide/keys-and-tls.md#pair-a-client). Keys, "
                + "the page's login and signed links then count for callers from loopback alone, and no call that comes "
                + "through a tunnel gets in."
        },
        Setting("allowedOrigins", \.allowedOrigins, .origins, .atRestart) {
            "The [origins](../guide/embedding.md#your-own-page) of other pages that may call the relay and show its page in "
                + "a frame, such as `https://ci.example`. The flag has commas between them."
        },
        Setting("linkTokenFile", \.linkTokenFile, .path, .atRestart) {
            "The file of the secret that agents show, at least 16 characters. Only user and group may be able to read it. "
                + "Without the file, `HELIOGRAPH_LINK_TOKEN` counts; without both, each run makes its own secret."
        },
    ]

    private static let files: [Setting<RelayConfiguration>] = [
        Setting(
            "stateFile",
            \.stateFile,
            .pathOrNone,
            .atRestart,
            default: "`$XDG_STATE_HOME/heliograph/relay-PORT.json`, with the port of `agentLink`"
        ) {
            "What the relay [keeps when it ends](#a-relay-that-is-started-again): sessions, broadcasts, "
                + "the agents' token, and the secret of [signed links](api.md#signed-links). "
                + "It keeps nothing with `none`, without a home directory, or if `agentLink` has port 0."
        },
        Setting(
            "library",
            \.library,
            .pathOrNone,
            .atRestart,
            default: "`$XDG_STATE_HOME/heliograph/library`"
        ) {
            "The folder of [recordings](../guide/recording.md) and their catalogue. With `none`, and without a home "
                + "directory, sessions cannot be recorded. Only one relay at a time can use a folder."
        },
        Setting("libraryDays", \.libraryDays, .integer(0...36_500), .atOnce) {
            "Recordings that were made longer ago, in days, are deleted, unless they are pinned. With 0 none are."
        },
        Setting("librarySize", \.librarySize, .mebibytes(0...1_048_576_000), .atOnce) {
            "The oldest recordings that are not pinned are deleted until the rest have this size. With 0 none are."
        },
        Setting("libraryFree", \.libraryFree, .mebibytes(0...1_048_576_000), .atOnce) {
            "Recordings pause while the disk has less free space."
        },
        Setting("libraryKeepFree", \.libraryKeepFree, .mebibytes(0...1_048_576_000), .atOnce) {
            "The oldest recordings that are not pinned are deleted while the disk has less free space. With 0 none are."
        },
        Setting("libraryDeviceSize", \.libraryDeviceSize, .mebibytes(0...1_048_576_000), .atOnce) {
            "The same as `librarySize`, for the recordings of each device."
        },
        Setting("libraryKeySize", \.libraryKeySize, .mebibytes(0...1_048_576_000), .atOnce) {
            "The same as `librarySize`, for the recordings that each key began."
        },
        Setting("portsFile", \.portsFile, .path, .atRestart, default: "no file") {
            #"The relay writes `{"http":N,"agentLink":N,"pid":N}` here when all ports are open."#
        },
        Setting("printPorts", \.printsPorts, .bool, .atRestart) { "Prints the same JSON to standard output." },
        Setting("logLevel", \.logLevel, .word("level"), .atOnce) { "The least level that is logged." },
        Setting("logFormat", \.logFormat, .word("format"), .atRestart) {
            "The format of the [log](../guide/monitoring.md#the-log). In json, each line is one object."
        },
    ]

    private static let agents: [Setting<RelayConfiguration>] = [
        Setting("agentUsers", \.agentUsers, .users, .atOnce, default: "no others") {
            "The users, by name or number, whose processes may be [agents](#agents-and-their-users) beside root and the "
                + "relay's own user. The flag has commas between them; in the file, numbers need quotes."
        },
        Setting("watchdog", \.watchdog, .seconds(0.1...3600), .atRestart) {
            "After how long without a byte an agent's link is lost, in seconds. "
                + "Agents send heartbeats three times as often, and at least every 2 s."
        },
        Setting("helloTimeout", \.helloTimeout, .seconds(0.1...3600), .atRestart) {
            "How long a connecting agent may take to send HELLO, in seconds."
        },
        Setting("agentReturnGrace", \.agentReturnGrace, .seconds(0...3600), .forLosses) {
            "How long the relay waits for a lost agent before it starts another, in seconds."
        },
        Setting("slateDelay", \.slateDelay, .seconds(0...3600), .forAgents) {
            "How long both of a device's sources may be lost before viewers see a slate, NO SIGNAL, in seconds."
        },
    ]

    private static let viewers: [Setting<RelayConfiguration>] = [
        Setting("viewerTimeout", \.viewerTimeout, .optionalSeconds(0...3600), .forSessions) {
            "How long a viewer may be [behind](api.md#viewers-that-fall-behind) before the relay closes its connection, "
                + "in seconds; 0 for ever."
        },
        Setting("viewerMemory", \.viewerMemory, .mebibytes(1...65_536), .atOnce) {
            "How much all viewers' connections together may leave unread in the relay, in MiB. "
                + "Beyond that, the relay closes the connection that holds most."
        },
    ]

    private static let connectionLimits: [Setting<RelayConfiguration>] = [
        Setting("maxConnections", \.connections.maximum, .integer(1...100_000), .atOnce) {
            "Most [connections](#limits) of callers and viewers."
        },
        Setting("maxConnectionsPerAddress", \.connections.maximumPerAddress, .integer(1...100_000), .atOnce) {
            "Most connections from one address."
        },
        Setting("requestTimeout", \.connections.requestTimeout, .seconds(0.1...3600), .forConnections) {
            "How long a connection's first request, a request's body, and the key on a session's port may take, in seconds."
        },
        Setting("idleTimeout", \.connections.idleTimeout, .seconds(0.1...3600), .forConnections) {
            "How long a connection may be idle between two requests, and take nothing of an answer, in seconds."
        },
    ]

    private static let ofDevices: [Setting<RelayConfiguration>] =
        [
            "source", "fallback", "input", "audio", "audioBitrate", "audioPacket", "microphone", "agent",
            "autostart", "sessions", "record", "recordWhen",
            "recordAudio", "applications", "desktopFiles", "maxSessions", "maxViewers",
        ].flatMap(
            Setting.ofDevices
        ) + [
            Setting("devices", \.listedDevices, .devices, .atRestart, default: "`{default: {}}`", isOfDevices: true) {
                "The [devices](#devices) by name, and their own settings."
            }
        ]

    private static let events: [Setting<RelayConfiguration>] = [
        Setting("webhooks", \.listedWebhooks, .webhooks, .atOnce, default: "`{}`") {
            "The [addresses that get events](#webhooks), by a name of your choice."
        }
    ]
}
