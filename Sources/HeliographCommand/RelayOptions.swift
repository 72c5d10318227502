import ArgumentParser
import HeliographAPI

/// The options that select the relay and the device.
struct RelayOptions: ParsableArguments {
    @OptionGroup var address: RelayAddress

    @Option(
        help: ArgumentHelp("The device. Default: default, or the relay's only one.", valueName: "name"),
        completion: .custom(Completions.devices)
    )
    var device: String?

    /// The argument that names the device.
    var argument: DeviceArgument { DeviceArgument(device: device) }
}
