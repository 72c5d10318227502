import Wire

/// The PipeWire node whose sound is captured.
struct SoundTarget: Sendable, Equatable {
    /// The cause of the error if there is no such node.
    static let missing = "audio_node_missing"

    enum Kind: Sendable, Equatable {
        /// A sink, of which the sound that it plays is captured.
        case sink
        /// A stream that plays to a sink.
        case player
        /// A microphone or the like.
        case source
    }

    /// The node's serial; `nil` for whichever sink is the default.
    var serial: String?
    var kind: Kind
    /// The node's id; `nil` if there are several sinks of which one may be the default.
    var node: UInt32?

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
            let sinks = nodes.filter { $0.mediaClass.hasPrefix("Audio/Sink") }
            (serial, kind, node) = (nil, .sink, sinks.count == 1 ? sinks.first?.id : nil)
            return
        case .sink(let name): found = named(name, "Audio/Sink").first
        case .node(let name): found = named(name, "").first
        case .application(let name):
            let streams = nodes.filter { $0.mediaClass == Self.player }
            found = streams.last { $0.properties["application.name"] == name || $0.properties["node.name"] == name }
        }
        guard let found, let serial = found.properties["object.serial"] else {
            throw Self.missing(choice, among: nodes)
        }
        (self.serial, node) = (serial, found.id)
        kind =
            if found.mediaClass.hasPrefix("Audio/Sink") {
                .sink
            } else if found.mediaClass == Self.player {
                .player
            } else {
                .source
            }
    }

    /// The media class of streams that play.
    private static let player = "Stream/Output/Audio"

    private static func missing(_ choice: SoundChoice, among nodes: [PipeWireGlobal]) -> SourceError {
        let kind: String
        switch choice {
        case .application: kind = player
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
