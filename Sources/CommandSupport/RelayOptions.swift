package import ArgumentParser
package import HeliographAPI

/// The options that select the relay and the device.
package struct RelayOptions: ParsableArguments {
    @OptionGroup package var address: RelayAddress

    @Option(
        help: ArgumentHelp("The device. Default: default, or the relay's only one.", valueName: "name"),
        completion: .custom(Completions.devices)
    )
    package var device: String?

    package init() {}

    /// The argument that names the device.
    package var argument: DeviceArgument { DeviceArgument(device: device) }
}
