extension RelayConfiguration {
    /// The settings whose values differ in `new`, by their names: those that can change while the relay runs, and those that cannot.
    ///
    /// A device that is new or gone is one that cannot.
    package func differences(to new: RelayConfiguration) -> (changed: [String], fixed: [String]) {
        let differing = Self.settings.filter { !$0.isOfDevices && $0.differs(self, new) }
        var changed = differing.filter { $0.change != .atRestart }.map(\.name)
        for device in devices {
            if let other = new.devices.first(where: { $0.name == device.name }), other != device {
                changed.append("devices.\(device.name)")
            }
        }
        var fixed = differing.filter { $0.change == .atRestart }.map(\.name)
        // A token of the relay's own is a new one each time.
        if isTokenConfigured != new.isTokenConfigured || new.isTokenConfigured && linkToken != new.linkToken {
            fixed.append("linkTokenFile")
        }
        if Set(devices.map(\.name)) != Set(new.devices.map(\.name)) { fixed.append("devices") }
        return (changed, fixed)
    }

    /// Returns this configuration with all values of `new` that can change while the relay runs.
    package func taking(_ new: RelayConfiguration) -> RelayConfiguration {
        var configuration = self
        for setting in Self.settings where setting.change != .atRestart { setting.copy(new, &configuration) }
        configuration.devices = devices.map { device in new.devices.first { $0.name == device.name } ?? device }
        return configuration
    }
}
