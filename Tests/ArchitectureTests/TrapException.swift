/// A line that the rules of ``TrapScanner`` do not allow, and why it does not trap.
struct TrapException: Sendable {
    /// The file's path, relative to Sources.
    let file: String
    /// A part of the line.
    let code: String
    let reason: String

    private init(_ file: String, _ code: String, _ reason: String) {
        (self.file, self.code, self.reason) = (file, code, reason)
    }

    static let all = [
        // The relay's process.
        TrapException(
            "Media/Bitstream/BitWriter.swift",
            "precondition(0...56 ~= count)",
            "Counts are literals, widths of at most 32 bits, or those of a number below 2^33."
        ),
        TrapException(
            "Media/Bitstream/BitWriter.swift",
            "precondition(pendingCount == 0)",
            "The one caller has just written trailing bits, which end with a byte."
        ),
        TrapException(
            "Packaging/MP4/FragmentedMP4.swift",
            "precondition(fps > 0",
            "A session has 1 to 240 pictures a second, also one from the state file, and an origin of 0."
        ),
        TrapException(
            "Pacing/SlotClock.swift",
            "precondition(fps > 0",
            "`RestingSession` takes 1 to 240 slots a second and refuses the rest."
        ),
        TrapException(
            "Pacing/SlotClock.swift",
            "guard let due else { preconditionFailure",
            "`RestingSession` begins its clock as it is made."
        ),
        TrapException(
            "Wire/PacketEncoder.swift",
            "preconditionFailure(",
            "The relay's packets hold texts, whole numbers and truth values, all of which JSON has."
        ),
        TrapException(
            "Relay/MediaLoop/MediaLoop.swift",
            "preconditionFailure(",
            "The media loop ends with the process."
        ),
        TrapException("Relay/Devices/Switchboard.swift", "[unowned self]", "Supervisors are the switchboard's own."),
        TrapException(
            "Relay/Sessions/Session.swift",
            "[unowned self]",
            "What calls them is the session's own, and calls nothing after the session's end."
        ),
        TrapException(
            "Relay/Sessions/SessionSource.swift",
            "[unowned self]",
            "What calls them is the source's own, and calls nothing after the session's end."
        ),
        TrapException("Relay/HTTP/API+Page.swift", "HTTPField.Name(\"", "The name is a literal that is allowed."),
        TrapException("Relay/HTTP/API+Events.swift", "HTTPField.Name(\"", "The name is a literal that is allowed."),
        TrapException("Relay/HTTP/OriginGuard.swift", "HTTPField.Name(\"", "The name is a literal that is allowed."),
        // Readers.
        TrapException(
            "Media/Bitstream/EmulationPrevention.swift",
            "bytes.replaceSubrange(unit.lowerBound..<next",
            "`next` begins at the unit's lower bound and moves on only if there is a byte."
        ),
        TrapException(
            "HeliographAPI/Schema/ObjectReader.swift",
            "members.remove(at: place)",
            "The place was just found."
        ),
        TrapException("Access/KeyRing.swift", "keys.remove(at: place)", "The place was just found."),
        TrapException(
            "Relay/Sinks/TCP/KeyLineHandler.swift",
            "APIKey.maximumLength + 1",
            "Both are constants."
        ),
        TrapException("Relay/Sinks/TCP/KeyLineHandler.swift", "line.removeLast()", "It has a last byte."),
        // Carriers.
        TrapException(
            "Relay/AgentLink/AgentLink.swift",
            "Int(max(1, heartbeat.milliseconds))",
            "It is 2 s at most."
        ),
        TrapException(
            "Relay/Sessions/KeyframeRequest.swift",
            "(asked?.lowerBound ?? id)...id",
            "Each id is larger than the ones before it."
        ),
        TrapException("Relay/Sessions/Session.swift", "Int64($0)", "Both have 64 bits."),
        TrapException(
            "Relay/Sessions/Session.swift",
            "KeyframeInterval * 1000).rounded()",
            "Intervals are 600 s at most, also those from the state file."
        ),
        TrapException(
            "Relay/Sessions/Session.swift",
            "keyframeInterval * 1000).rounded()",
            "Intervals are 60 s at most, also those from the state file."
        ),
        TrapException(
            "Relay/Sessions/SessionTable.swift",
            "base...min(base + count - 1, Int(UInt16.max))",
            "The base is 65535 at most, and the count 1000 at least."
        ),
        TrapException(
            "Relay/Sinks/Snapshots/SessionSnapshots.swift",
            "waiting[kind, default: [:]][round]",
            "The inner ones are dictionaries too."
        ),
        TrapException(
            "Relay/HTTP/WebSocketEntrance.swift",
            "hosts[0]",
            "A request without exactly one host is refused before."
        ),
        TrapException(
            "Relay/Sinks/WebSocket/WebSocketViewer.swift",
            "messages[before...]",
            "It is their number of a moment ago, and none was taken away."
        ),
    ]

    /// Returns whether it covers this finding.
    func excuses(_ finding: TrapScanner.Finding, in file: String) -> Bool {
        file == self.file && finding.text.contains(code)
    }
}
