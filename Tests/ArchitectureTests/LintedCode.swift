import Foundation

/// A part of the sources with the rules that ``TrapTests`` applies to it.
struct LintedCode: Sendable, CustomStringConvertible {
    /// What the part is, for a failure's message.
    let name: String
    let rules: Set<TrapScanner.Rule>
    /// Its folders and files, relative to Sources.
    let paths: [String]
    /// Folders and files that are left out, each with the reason.
    var apart: [String: String] = [:]

    var description: String { name }

    static let sources = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources")

    /// Returns the Swift files at or below `path`, relative to Sources.
    static func files(at path: String) throws -> [String] {
        guard !path.hasSuffix(".swift") else { return [path] }
        return try FileManager.default.subpathsOfDirectory(atPath: sources.appendingPathComponent(path).path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { "\(path)/\($0)" }
    }

    static func source(of file: String) throws -> String {
        try String(contentsOf: sources.appendingPathComponent(file), encoding: .utf8)
    }

    var files: [String] {
        get throws {
            let left = Set(try apart.keys.flatMap(Self.files(at:)))
            return try paths.flatMap(Self.files(at:)).filter { !left.contains($0) }
        }
    }

    static let all = [relay, readers, carriers]

    /// All code of the relay's process, and what a client gets of a relay.
    private static let relay = LintedCode(
        name: "the relay or its client",
        rules: [.forced, .asserted],
        paths: [
            "Access", "Files", "HeliographAPI", "HeliographClient/Connection", "HeliographClient/Live", "Library",
            "Media", "Packaging", "Pacing", "Program", "Relay",
            "RelayCommand",
            "Wire",
        ]
    )

    /// Code that parses what agents, viewers, callers or their files contain.
    private static let readers = LintedCode(
        name: "a reader",
        rules: Set(TrapScanner.Rule.allCases),
        paths: [
            // The agent link.
            "Program/Name.swift", "Wire",
            // An agent's pictures.
            "Media/AnnexB.swift", "Media/Bitstream", "Media/DisplayOrientation.swift", "Media/H264", "Media/H265",
            "Media/NALUnitKind.swift", "Media/Repeats", "Media/Tracks", "Media/VideoSignal.swift",
            "Packaging/CodecString.swift", "Packaging/MP4/DecoderConfigurations.swift",
            "Packaging/MP4/BoxReader.swift", "Packaging/MP4/FragmentReader.swift",
            "Packaging/MP4/MovieIndex+Reading.swift", "Packaging/MP4/MovieIndex.swift",
            "Packaging/MP4/RecordingScan.swift", "Packaging/MP4/SampleTable.swift", "Packaging/MP4/MovieClip.swift",
            "Packaging/MP4/ParameterSetList.swift", "Packaging/MP4/SampleEntry.swift",
            "Packaging/Ogg/OggPageReader.swift",
            // An agent's figures and times.
            "Media/LatencyHistogram.swift", "Media/SessionCounters.swift", "Relay/Devices/HeartbeatHistory.swift",
            "Relay/Metrics/SessionLatency.swift", "Relay/Sinks/Snapshots/KeptSnapshot.swift",
            // What agents write to their standard error.
            "Relay/Devices/LineAssembler.swift",
            // Calls: bodies, queries, keys, addresses.
            "HeliographAPI/Input/GamepadMessage.swift", "HeliographAPI/JSON", "HeliographAPI/Requests",
            "HeliographAPI/Schema",
            "Relay/Access/Caller.swift", "Relay/Access/KeySigner.swift", "Relay/Access/LoginCookie.swift",
            "Relay/Access/SignedLink.swift", "Relay/HTTP/Door.swift", "Relay/HTTP/SignedPaths.swift",
            "Relay/Tunnel/TunnelOutput.swift", "Relay/HTTP/API+Arguments.swift",
            "Relay/Launch/Endpoint.swift",
            "Access/APIKey.swift", "Access/Fingerprint.swift", "Access/Hexadecimal.swift",
            // Viewers' messages, and their keys on sessions' ports.
            "Relay/Sinks/TCP/KeyLineHandler.swift", "Relay/Sinks/WebSocket/ViewerEvent.swift",
            "Relay/Sinks/WebSocket/PresentationLedger.swift", "Relay/Stream/StreamConfiguration.swift",
            "Relay/Sinks/WebSocket/ViewerMessage.swift", "Relay/Sinks/WebSocket/ViewerInput.swift",
            "Relay/HTTP/WebSocketPath.swift",
            // What a relay sends to a client.
            "HeliographClient/Live/LiveMessage.swift",
            // The files of keys and of the relay's state.
            "Access/KeyRing.swift", "Relay/State/RelayState.swift",
            // Searches and cursors of callers, and what recordings' files say about themselves.
            "Library/Values",
        ],
        apart: [
            "Media/AnnexB.swift": "a checked reader: it looks for start codes in an array",
            "Media/Bitstream/BitReader.swift": "a checked reader: of bits",
            "Media/Bitstream/ByteReader.swift": "a checked reader: of bytes",
            "Media/Bitstream/CheckedAccess.swift": "a checked reader: of collections",
            "Media/Bitstream/MediaBytes.swift": "checked readers and a checked writer: of units' bytes",
            "Media/Bitstream/BitWriter.swift": "writes what the readers have bounded",
            "Media/H264/H264SkipPicture.swift": "writes what the readers have bounded",
            "Media/H265/CABACEncoder.swift": "writes what the readers have bounded",
            "Media/H265/H265SkipPicture.swift": "writes what the readers have bounded",
            "Wire/PacketEncoder.swift": "writes the relay's own packets",
        ]
    )

    /// Code that carries parsed data to viewers. It counts bytes and pictures, of which memory can never hold so many
    /// that a sum overflows.
    private static let carriers = LintedCode(
        name: "a carrier",
        rules: Set(TrapScanner.Rule.allCases).subtracting([.arithmetic]),
        paths: [
            "HeliographClient/Live", "Library/Movies", "Packaging", "Relay/AgentLink",
            "Relay/HTTP/WebSocketEntrance.swift", "Relay/Sessions",
            "Relay/Sinks", "Relay/Stream",
        ],
        apart: [
            "HeliographClient/Live/Input.swift": "writes what the program says",
            "Library/Movies/RecordingFile.swift": "reads and writes the relay's own files",
            "Relay/AgentLink/LinkToken.swift": "reads the operator's file",
            "Relay/Stream/ByteBuffer+MediaBytes.swift": "a checked reader and writer: of the relay's buffers",
            "Relay/AgentLink/PeerUser.swift": "asks the kernel, and reads the operator's configuration",
        ]
    )
}
