import Media

/// A monitor in the current state of Mutter's DisplayConfig.
struct MutterMonitor {
    /// The name of the error for a monitor that is not there.
    static let missing = "no-monitor"

    private static let callTimeout: UInt64 = .milliseconds(5_000)
    private static let displayConfig = BusTarget(
        service: "org.gnome.Mutter.DisplayConfig",
        path: "/org/gnome/Mutter/DisplayConfig",
        interface: "org.gnome.Mutter.DisplayConfig"
    )

    /// Its name, such as `DP-1`.
    var connector = ""
    /// Its product name.
    var product = ""
    /// The size of its first mode.
    var size: PictureSize?

    /// Returns the monitor on a connector; `nil` means the first one.
    static func named(_ wanted: String?, _ bus: Bus) throws(BusError) -> MutterMonitor {
        let monitors = try all(bus)
        guard let wanted else {
            guard let first = monitors.first else {
                throw .refused(name: missing, message: "Mutter has no monitor")
            }
            return first
        }
        guard let monitor = monitors.first(where: { $0.connector == wanted }) else {
            let names = monitors.map(\.connector).joined(separator: ", ")
            throw .refused(name: missing, message: "Mutter has no monitor \(wanted); it has: \(names)")
        }
        return monitor
    }

    /// Returns the newest virtual monitor of a size that a screencast has made.
    static func virtual(_ size: PictureSize, _ bus: Bus) throws(BusError) -> MutterMonitor {
        let monitor = try all(bus).last { $0.product == "Virtual remote monitor" && $0.size == size }
        guard let monitor else {
            throw .refused(name: missing, message: "Mutter has no virtual monitor of \(size)")
        }
        return monitor
    }

    private static func all(_ bus: Bus) throws(BusError) -> [MutterMonitor] {
        let state = try bus.call(displayConfig, "GetCurrentState", timeout: callTimeout)
        _ = try state.readUnsigned()
        var monitors: [MutterMonitor] = []
        let mode = "siiddada{sv}"
        let type = "(ssss)a(\(mode))a{sv}"
        try state.readArray("(\(type))") { () throws(BusError) in
            var monitor = MutterMonitor()
            try state.readStruct(type) { () throws(BusError) in
                try state.readStruct("ssss") { () throws(BusError) in
                    monitor.connector = try state.readString()
                    _ = try state.readString()
                    monitor.product = try state.readString()
                }
                try state.readArray("(\(mode))") { () throws(BusError) in
                    try state.readStruct(mode) { () throws(BusError) in
                        _ = try state.readString()
                        let size = PictureSize(width: Int(try state.readSigned()), height: Int(try state.readSigned()))
                        if monitor.size == nil { monitor.size = size }
                    }
                }
            }
            monitors.append(monitor)
        }
        return monitors
    }
}
