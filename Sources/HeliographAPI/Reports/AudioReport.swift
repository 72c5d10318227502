/// A device's sound.
package struct AudioReport: APIModel, Equatable {
    package var agent: String?
    package var problem: String?
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
