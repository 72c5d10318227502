/// A device's sound.
package struct AudioReport: APIModel, Equatable {
    package var agent: String?
    package var problem: String?
    package var codecs: [String] = []
    package var aacProblem: String?
    package var capturing: [String] = []
    package var packets: UInt64 = 0
    package var bytes: UInt64 = 0
    package var switches: UInt64 = 0
    package var discarded: UInt64 = 0

    package init() {}

    package static let schema = Schema.report(
        "Audio",
        [
            Field(
                "agent",
                .text.orNull,
                "The agent that sends sound, `primary` or `standby`; null while no viewer listens."
            ),
            Field("problem", .text.orNull, "Why there is no sound; null if there is, or no viewer listens."),
            Field("codecs", .array(of: .text), "The codecs in which the agent encodes now, `opus` and `aac`."),
            Field(
                "aacProblem",
                .text.orNull,
                "Why the agent cannot encode AAC; null if it can, or nobody has asked for it."
            ),
            Field(
                "capturing",
                .array(of: .text),
                "The agents that capture sound now: the one that sends, and one that keeps the last second."
            ),
            Field("packets", .count, "Packets that went to sessions since the relay started."),
            Field("bytes", .count, "Their bytes."),
            Field("switches", .count, "How often another agent continued the sound."),
            Field("discarded", .count, "Packets from an agent that does not send, or with a wrong time."),
        ]
    )
}

/// A desktop's microphone, to which callers speak.
package struct MicrophoneReport: APIModel, Equatable {
    package var available = false
    package var speaker: String?
    package var delayMs: Int?
    package var holes: UInt64?

    package init() {}

    package static let schema = Schema.report(
        "Microphone",
        [
            Field("available", .bool, "Whether the agent has made it, in PipeWire."),
            Field(
                "speaker",
                .text.orNull,
                "The caller that speaks: a key's name, or `local` without keys; null for none."
            ),
            Field(
                "delayMs",
                .anyInteger.orNull,
                "How long speech waited in the agent at last before programs got it, in ms; null while none records."
            ),
            Field(
                "holes",
                .count.orNull,
                "How often speech came too late since the agent started, so that programs heard a hole."
            ),
        ]
    )
}

/// How loud a device's sound was.
package struct SoundLevelReport: APIModel {
    package var device = ""
    package var level: Double?
    package var loudest: Double?
    package var seconds = 0.0
    package var at = ""

    package init() {}

    package static let schema = Schema.report(
        "SoundLevel",
        [
            Field("device", .text),
            Field(
                "level",
                .figure.orNull,
                "The root mean square, in dB below full scale: a sine at full scale has -3. null if there was only silence."
            ),
            Field("loudest", .figure.orNull, "That of the loudest packet."),
            Field("seconds", .figure, "How long it was measured, s."), Field("at", .date, "When that began."),
        ]
    )
}
