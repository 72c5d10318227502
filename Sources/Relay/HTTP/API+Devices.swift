import HeliographAPI
import Hummingbird
import Library

/// Keeps a key of some devices to these.
///
/// ``RouteTable`` asks here before it calls a route's handler, so that no handler can forget it. Only routes with
/// ``Route/isScoped`` get calls about no certain device. Their handlers leave out what the caller's key does not reach.
extension API {
    /// Refuses a call about a device that the caller's key does not reach: the one in the path, or that of the session
    /// or the item there.
    func requireReach(of route: Route, _ context: RelayRequestContext) async throws {
        let caller = context.caller
        guard let devices = caller.devices else { return }
        if let device = context.parameters.get("device") {
            _ = try await self.device(device, for: caller)
        } else if let id = context.parameters.get("id") {
            try await requireReach(ofSession: id, context)
        } else if context.parameters.get("item") != nil {
            let id = try Self.itemID(context)
            guard let device = try await inLibrary({ try $0.device(of: id) }) else {
                throw Problem(LibraryError.unknownItem(id))
            }
            context.audit.note("device", device)
            try access.requireReach(device, by: caller)
        } else if route.needsAllDevices {
            throw access.counted(.notOfAllDevices(devices))
        }
    }

    @MediaLoop
    private func requireReach(ofSession id: String, _ context: RelayRequestContext) throws(Problem) {
        let session = try session(id: id)
        context.audit.note("device", session.device.name)
        context.audit.note("session", session.id)
        try access.requireReach(session.device.name, by: context.caller)
    }

    /// Returns the device that the arguments of a call should name: the default one of a caller whose key reaches only
    /// some devices. Refuses one that the key does not reach.
    ///
    /// - Parameter members: The arguments, before they are checked.
    /// - Returns: `nil` if the arguments stay as they are.
    func device(in members: [JSONValue.Member], to route: Route, for caller: Caller) async throws(Problem) -> String? {
        guard caller.devices != nil, route.arguments.fields.contains(where: { $0.name == "device" }) else { return nil }
        let named = members.filter { $0.name == "device" }
        for member in named {
            guard case .string(let name) = member.value else { continue }
            try access.requireReach(name, by: caller)
            if route.needsDevice, !route.isScoped { _ = try await device(name, for: caller) }
        }
        guard named.isEmpty, route.needsDevice, !route.isScoped else { return nil }
        return try await device(nil, for: caller)
    }

    /// Returns the named device, or the default one among those that the caller's key reaches.
    @MediaLoop
    private func device(_ name: String?, for caller: Caller) throws(Problem) -> String {
        if let name { try access.requireReach(name, by: caller) }
        let reached = switchboard.allBroadcasts.map(\.device.name).filter(caller.reaches)
        let device = name ?? (reached.count == 1 ? reached.first : DeviceConfiguration.defaultName)
        guard let device, reached.contains(device) else { throw .noDevice(name, among: reached) }
        return device
    }
}
