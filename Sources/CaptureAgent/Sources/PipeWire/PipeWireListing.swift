import CPipeWire

/// An object that a PipeWire daemon announces.
struct PipeWireGlobal: Sendable {
    var id: UInt32
    /// The interface, such as `PipeWire:Interface:Node`.
    var type: String
    /// Its properties among ``PipeWireListing/keys``.
    var properties: [String: String]

    var isNode: Bool { type == "PipeWire:Interface:Node" }
    /// Whether it is the object that a session manager creates when it is ready to link streams.
    var isSessionManagersMetadata: Bool {
        type == "PipeWire:Interface:Metadata" && properties["metadata.name"] == "default"
    }
}

/// A list of the objects that a daemon announces. Used in PipeWire's thread and under the connection's lock.
final class PipeWireListing {
    /// The properties that are kept.
    static let keys = [
        PW_KEY_NODE_NAME, PW_KEY_OBJECT_SERIAL, PW_KEY_MEDIA_CLASS, PW_KEY_APP_NAME, PW_KEY_LINK_INPUT_NODE,
        PW_KEY_LINK_OUTPUT_NODE, "metadata.name",
    ]

    private(set) var globals: [PipeWireGlobal] = []
    private let removed: (UInt32) -> Void
    private var registry: OpaquePointer?
    private let hook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)

    /// - Parameter removed: Called in PipeWire's thread with the id of every object that is removed.
    init(removed: @escaping (UInt32) -> Void = { _ in }) {
        self.removed = removed
        hook.initialize(to: spa_hook())
    }

    deinit {
        hook.deallocate()
    }

    /// Starts to listen for announcements.
    ///
    /// - Returns: Whether that was possible.
    func begin(on core: OpaquePointer) -> Bool {
        registry = cpw_core_get_registry(core)
        guard let registry else { return false }
        cpw_registry_add_listener(registry, hook, pipeWireRegistryEvents, Unmanaged.passUnretained(self).toOpaque())
        return true
    }

    /// Stops listening.
    func end() {
        guard let registry else { return }
        spa_hook_remove(hook)
        pw_proxy_destroy(registry)
        self.registry = nil
    }

    fileprivate func announced(id: UInt32, type: String, properties: UnsafePointer<spa_dict>?) {
        var kept: [String: String] = [:]
        for key in Self.keys {
            if let value = spa_dict_lookup(properties, key) { kept[key] = String(cString: value) }
        }
        globals.append(PipeWireGlobal(id: id, type: type, properties: kept))
    }

    fileprivate func withdrawn(id: UInt32) {
        globals.removeAll { $0.id == id }
        removed(id)
    }
}

// Created once and never freed, because PipeWire keeps the pointer to the event table while a listener lives.
// `nonisolated(unsafe)` because it is never written afterwards.
nonisolated(unsafe) private let pipeWireRegistryEvents: UnsafePointer<pw_registry_events> = {
    var events = pw_registry_events()
    events.version = UInt32(PW_VERSION_REGISTRY_EVENTS)
    events.global = { data, id, _, type, _, properties in
        guard let data, let type else { return }
        Unmanaged<PipeWireListing>.fromOpaque(data).takeUnretainedValue()
            .announced(id: id, type: String(cString: type), properties: properties)
    }
    events.global_remove = { data, id in
        guard let data else { return }
        Unmanaged<PipeWireListing>.fromOpaque(data).takeUnretainedValue().withdrawn(id: id)
    }
    let table = UnsafeMutablePointer<pw_registry_events>.allocate(capacity: 1)
    table.initialize(to: events)
    return UnsafePointer(table)
}()
