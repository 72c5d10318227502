import Wire

extension DeviceConfiguration: Configurable {
    /// The settings of a device. Those that ``RelayConfiguration/settings`` also contains may be set for all devices at
    /// once.
    package static let settings: [Setting<DeviceConfiguration>] = [
        Setting("source", \.source, .source, .forBroadcasts) {
            "What a broadcast captures if its start names no [source](api.md#post-screencapturebroadcaststart): "
                + "\(SourceKind.words)."
        },
        Setting(
            "fallback",
            \.fallback,
            .fallback,
            .forBroadcasts,
            default: "`screenshot` beside a desktop's screencast, else `none`"
        ) {
            "What the [standby](#fallback) captures: `none` for no standby, a kind of source, or an object as for `source`."
        },
        Setting("input", \.input, .word("input"), .forBroadcasts) {
            "How callers [act](../guide/input.md#desktops) on the desktop: `auto` for what it offers itself, `portal` for its "
                + "portal, which asks a person at every start, `uinput` for virtual devices of the kernel, `off` for not at all."
        },
        Setting("audio", \.sound, .sound, .forBroadcasts) {
            "The sound that is captured while a viewer [listens](../guide/audio.md): `off`, `desktop` for what the default "
                + "sink plays, `virtual` for a sink that the agent makes for a desktop without sound hardware, "
                + "`sink:NAME`, `node:NAME` for a microphone or another source, or `application:NAME`."
        },
        Setting("audioBitrate", \.soundCoding.bitrate, .integer(SoundCoding.bitrates), .forBroadcasts) {
            "The bitrate of the sound in each codec, in kbit/s."
        },
        Setting("audioPacket", \.soundCoding.packet, .packetDuration, .forBroadcasts) {
            "The duration of a packet of Opus, in ms. Packets shorter than 10 use the codec's low-delay mode."
        },
        Setting("microphone", \.hasMicrophone, .bool, .forBroadcasts) {
            "Whether the desktop has a microphone to which callers may [speak](../guide/audio.md#speak-to-a-desktop)."
        },
        Setting(
            "agent",
            \.agentExecutable,
            .path,
            .forBroadcasts,
            default: "beside the relay's executable, else in PATH"
        ) {
            "The capture-agent to start."
        },
        Setting("environment", \.environment, .environment, .forBroadcasts) {
            "Variables for the agent, over those of the relay. Values are never logged. "
                + "`HELIOGRAPH_LINK_TOKEN` is the relay's to set."
        },
        Setting(
            "stateDirectory",
            \.stateDirectory,
            .absolutePath,
            .forBroadcasts,
            default: "`$XDG_STATE_HOME/heliograph`"
        ) {
            "The agent keeps the portal's restore token here, in a folder of the device's name."
        },
        Setting("consentTimeout", \.consentTimeout, .optionalSeconds(1...3600), .forBroadcasts, default: "60") {
            "How long a person has to answer the desktop's dialog, in seconds."
        },
        Setting(
            "screenshotCommand",
            \.screenshotCommand,
            .strings(count: 1...100, length: 0...4096),
            .forBroadcasts,
            default: "what the desktop offers"
        ) {
            "The program that takes screenshots if the source or the fallback is `screenshot`, and its arguments. "
                + "It writes a PNG, JPEG or PPM picture to its standard output."
        },
        Setting("screenshotTimeout", \.screenshotTimeout, .optionalSeconds(0.1...60), .forBroadcasts, default: "5") {
            "How long the program may take for one screenshot, in seconds."
        },
        Setting("autostart", \.isAutostarted, .bool, .atOnce) {
            "Whether the relay [starts the broadcast](../guide/unattended.md) when it starts, "
                + "and tries again until the screen is captured."
        },
        Setting("sessions", \.standingSessions, .standingSessions, .atOnce) {
            "The [sessions](#standing-sessions) that exist from the relay's start on, by name, with the settings of "
                + "[POST /v1/sessions](api.md#post-v1sessions)."
        },
        Setting("labels", \.labels, .labels, .atOnce) {
            "Words to find the device by in lists and on the web page, such as `room: lab`."
        },
        Setting("onDemand", \.isOnDemand, .bool, .atOnce) {
            "Whether a viewer's call at the [device's own address](api.md#one-address-for-a-device) starts the broadcast "
                + "and a shared session. Sources that may ask a person are never started this way."
        },
        Setting("record", \.isRecorded, .bool, .atOnce) {
            "Whether the device's shared session is started and [recorded](../guide/recording.md) whenever the device is "
                + "broadcast."
        },
        Setting("recordWhen", \.recordWhen, .word("when"), .atOnce) {
            "When that session is written: always, while it is watched, or while its screen has changed."
        },
        Setting("recordAudio", \.recordedSound, .word("codecs"), .forRecordings) {
            "The codecs of the sound in recordings: `opus`, `aac` for players that do not play Opus, such as old ones of "
                + "Apple's, or `both`. An agent that has no AAC records Opus."
        },
        Setting("applications", \.applications, .applications, .atOnce, default: "`{}`") {
            "The programs that callers may [launch](#applications) on the device's desktop, by a name of your choice."
        },
        Setting("desktopFiles", \.allowsDesktopFiles, .bool, .atOnce) {
            "Whether callers may also launch the desktop files that are installed there."
        },
        Setting("maxSessions", \.maximumSessions, .integer(1...1000), .atOnce) { "Most sessions of a device." },
        Setting("maxViewers", \.maximumViewers, .integer(1...10_000), .atOnce) { "Most viewers of a session." },
    ]

    /// Creates the configuration of one device.
    ///
    /// - Parameter all: The values for devices that do not set their own.
    init(_ device: DeviceSettings, within all: DeviceConfiguration) {
        self.init(name: device.name)
        for setting in Self.settings {
            setting.copy(device.settings.names.contains(setting.name) ? device.settings.values : all, &self)
        }
    }
}
