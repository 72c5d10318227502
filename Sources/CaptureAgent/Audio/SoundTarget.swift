import Wire

/// The PipeWire node whose sound is captured.
struct SoundTarget: Sendable, Equatable {
    /// The cause of the error if there is no such node.
    static let missing = "audio_node_missing"

    /// The node's serial; `nil` for whichever sink is the default.
    var serial: String?
    /// Whether it is a sink, of which the sound that it plays is captured.
    var isSink: Bool

    /// Looks a node up.
    ///
    /// - Throws: `SourceError` if there is none now.
    init(_ choice: SoundChoice, among globals: [PipeWireGlobal]) throws(SourceError) {
        let nodes = globals.filter { $0.isNode }
        func named(_ name: String, _ kind: String) -> [PipeWireGlobal] {
            nodes.filter { $0.mediaClass.hasPrefix(kind) && $0.properties["node.name"] == name }
        }
        let found: PipeWireGlobal?
        switch choice {
        case .off, .desktop, .virtual:
            (serial, isSink) = (nil, true)
            return
        case .sink(let name):
            isSink = true
            found = named(name, "Audio/Sink").first
        case .node(let name):
            let node = named(name, "").first
            isSink = node?.mediaClass.hasPrefix("Audio/Sink") ?? false
            found = node
        case .application(let name):
            isSink = false
            let streams = nodes.filter { $0.mediaClass == "Stream/Output/Audio" }
            found = streams.last { $0.properties["application.name"] == name || $0.properties["node.name"] == name }
        }
        guard let serial = found?.properties["object.serial"] else { throw Self.missing(choice, among: nodes) }
        self.serial = serial
    }

    private static func missing(_ choice: SoundChoice, among nodes: [PipeWireGlobal]) -> SourceError {
        let kind: String
        switch choice {
        case .application: kind = "Stream/Output/Audio"
        case .sink: kind = "Audio/Sink"
        default: kind = "Audio/"
        }
        let names = nodes.filter { $0.mediaClass.hasPrefix(kind) }.compactMap { node in
            kind.hasPrefix("Stream") ? node.properties["application.name"] : node.properties["node.name"]
        }
        let list = names.isEmpty ? "there are none" : "there are: \(Set(names).sorted().joined(separator: ", "))"
        return .unavailable(
            cause: missing,
            detail: "PipeWire has no \(choice); \(list). The agent looks again every second."
        )
    }
}

extension PipeWireGlobal {
    fileprivate var mediaClass: String { properties["media.class"] ?? "" }
}
