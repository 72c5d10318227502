import ArgumentParser
import HeliographAPI

/// Which relay to talk to, and about which device.
struct RelayOptions: ParsableArguments {
    @OptionGroup var address: RelayAddress

    @Option(help: ArgumentHelp("The device. Default: default, or the relay's only one.", valueName: "name"))
    var device: String?

    /// The argument that names the device.
    var argument: DeviceArgument { DeviceArgument(device: device) }
}
