/// The arguments of a call that takes none.
package struct NoArguments: APIModel {
    package init() {}
    package static let schema = Schema.request("NoArguments", "There are none.", [])
}

/// The device that a call is about.
package struct DeviceArgument: APIModel {
    package var device: String?

    package init() {}
    package init(device: String?) { self.device = device }

    package static let schema = Schema.request("DeviceArgument", [Field("device", .device)])
}
