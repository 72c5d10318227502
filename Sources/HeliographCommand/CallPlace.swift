import HeliographAPI

/// The object of a call: the values of its path's parameters.
struct CallPlace: Sendable {
    private let parameters: [String: String]

    /// The relay, or the object that the call's arguments name.
    static let relay = CallPlace(parameters: [:])

    static func session(_ id: UInt32) -> CallPlace { CallPlace(parameters: ["id": "\(id)"]) }

    static func device(_ device: String) -> CallPlace { CallPlace(parameters: ["device": device]) }

    /// Returns the place of a session or a template of a device.
    static func named(_ name: String, of device: String) -> CallPlace {
        CallPlace(parameters: ["device": device, "name": name])
    }

    static func item(_ id: String) -> CallPlace { CallPlace(parameters: ["item": id]) }

    static func playlist(_ name: String) -> CallPlace { CallPlace(parameters: ["playlist": name]) }

    static func application(_ id: String, of device: String) -> CallPlace {
        CallPlace(parameters: ["device": device, "application": id])
    }

    /// Returns the call's path for these parameters, chosen from its addresses. A call without parameters goes to the
    /// default device.
    func path(of route: Route) -> String {
        guard let address = route.addresses.last(where: { Set($0.parameters) == Set(parameters.keys) }) else {
            preconditionFailure("\(route.name) has no address with \(parameters.keys.sorted())")
        }
        return parameters.reduce(address.path) { path, parameter in
            path.replacing("{\(parameter.key)}", with: parameter.value.percentEncoded)
        }
    }

    /// The text for a session that the relay does not know, with how to find or start it.
    var absence: String? {
        if let id = parameters["id"] {
            return "there is no session \(id), or it has ended: `heliograph session list` shows the sessions"
        }
        if let item = parameters["item"] {
            return "there is no recording \(item): `heliograph library list` shows which there are"
        }
        if let playlist = parameters["playlist"] {
            return "there is no playlist \(playlist): `heliograph library playlist list` shows which there are"
        }
        guard let device = parameters["device"] else { return nil }
        let name = parameters["name"] ?? Route.sharedSession
        return "device \(device) has no session \(name), or it has ended: start it with "
            + "`heliograph session start \(name) --device \(device)`"
    }
}
