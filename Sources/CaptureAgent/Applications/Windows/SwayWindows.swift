import Wire

/// The windows of sway.
struct SwayWindows: DesktopWindows {
    private let sway: SwayConnection

    /// Connects to the sway of WAYLAND_DISPLAY. Returns `nil` if the compositor is another one.
    init?() throws(WindowFailure) {
        guard let sway = try Self.explaining({ () throws(SwayFailure) in try SwayConnection() }) else { return nil }
        self.sway = sway
    }

    func close() { sway.close() }

    func windows() throws(WindowFailure) -> [DesktopWindow] {
        let tree = try Self.explaining { () throws(SwayFailure) in try sway.ask(.tree, as: SwayNode.self) }
        var found: [DesktopWindow] = []
        tree.collect(&found)
        // Ids count up.
        return found.sorted { $0.id < $1.id }
    }

    func focus(_ window: DesktopWindow) throws(WindowFailure) {
        try Self.explaining { () throws(SwayFailure) in
            try sway.run("[con_id=\(window.id)] focus", "focus the window")
        }
    }

    private static func explaining<Value>(_ body: () throws(SwayFailure) -> Value) throws(WindowFailure) -> Value {
        do throws(SwayFailure) {
            return try body()
        } catch {
            throw WindowFailure(.failed, error.detail)
        }
    }
}

/// A container of sway's tree.
private struct SwayNode: Decodable {
    let id: Int
    /// The process of a window; other containers have none.
    let pid: Int32?
    let nodes: [SwayNode]?
    let floatingNodes: [SwayNode]?

    enum CodingKeys: String, CodingKey {
        case id, pid, nodes
        case floatingNodes = "floating_nodes"
    }

    func collect(_ windows: inout [DesktopWindow]) {
        if let pid, pid > 0 { windows.append(DesktopWindow(id: id, pid: pid)) }
        for node in (nodes ?? []) + (floatingNodes ?? []) { node.collect(&windows) }
    }
}
