import Wire

/// A PipeWire video node of any program, such as a GStreamer pipeline.
package struct NodeSource: FrameSource {
    package let kind = "node"
    /// The node's name, or its serial or id as a decimal number.
    let node: String
    /// The daemon that has the node. A descriptor can be used for one run only.
    let remote: PipeWireConnection.Remote

    package init(node: String, remote: PipeWireConnection.Remote = .session) {
        self.node = node
        self.remote = remote
    }

    package func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError) {
        let connection = try PipeWireConnection(to: remote)
        let target: PipeWireTarget
        do throws(SourceError) {
            target = try Self.target(named: node, among: connection.globals())
        } catch {
            connection.shutDown()
            throw error
        }
        let openingDemand = demand.value
        let stream = try PipeWireStream(connection, target: target, demand: openingDemand, sink: sink)
        defer { stream.shutDown() }
        try stream.deliver(demand, openedWith: openingDemand, until: stop) { events in
            !Event.wait(forAnyOf: events, until: nil)
        }
    }

    /// Returns the node that `name` means: by name first, then by serial (never reused), then by id.
    static func target(named name: String, among globals: [PipeWireGlobal]) throws(SourceError) -> PipeWireTarget {
        let nodes = globals.filter(\.isNode)
        let found =
            nodes.first { $0.properties["node.name"] == name } ?? nodes.first { $0.properties["object.serial"] == name }
            ?? nodes.first { String($0.id) == name }
        guard let found else {
            let names = nodes.filter { $0.properties["media.class"]?.contains("Video") == true }
                .compactMap { $0.properties["node.name"] }
            throw .unavailable(
                cause: "node_unknown",
                detail:
                    "PipeWire has no node \(name). Video nodes: \(names.isEmpty ? "none" : names.joined(separator: ", "))."
            )
        }
        let isManaged = globals.contains(where: \.isSessionManagersMetadata)
        return PipeWireTarget(node: found.id, linking: isManaged ? .sessionManager : .own, outlivesStream: true)
    }
}
