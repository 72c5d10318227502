import HeliographAPI

/// The object of a call: the values of its path's parameters.
package struct CallPlace: Sendable {
    /// The values by the names of the path's parameters.
    package let parameters: [String: String]

    /// The relay, or the object that the call's arguments name.
    package static let relay = CallPlace(parameters: [:])

    package static func session(_ id: UInt32) -> CallPlace { CallPlace(parameters: ["id": "\(id)"]) }

    package static func device(_ device: String) -> CallPlace { CallPlace(parameters: ["device": device]) }

    /// Returns the place of a session or a template of a device.
    package static func named(_ name: String, of device: String) -> CallPlace {
        CallPlace(parameters: ["device": device, "name": name])
    }

    package static func item(_ id: String) -> CallPlace { CallPlace(parameters: ["item": id]) }

    package static func playlist(_ name: String) -> CallPlace { CallPlace(parameters: ["playlist": name]) }

    package static func application(_ id: String, of device: String) -> CallPlace {
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
}
