import Glibc
package import Program
package import Wire

/// Whether the kernel lets this user make virtual gamepads.
package enum GamepadDiagnosis {
    /// The types that can be made here, by their names.
    package static var possible: [String] {
        GamepadType.allCases.filter { problem(of: $0) == nil }.map(\.name)
    }

    /// Returns why a type cannot be made here, and what to do; `nil` if it can.
    ///
    /// - Parameter node: The path of its device node.
    package static func problem(
        of type: GamepadType,
        node path: String? = nil
    ) -> (what: String, advice: String)? {
        let path = path ?? type.node
        guard access(path, R_OK | W_OK) != 0 else { return nil }
        let module = type == .xbox ? "uinput" : "uhid"
        switch errno {
        case ENOENT:
            return (
                "\(path) does not exist.",
                "Load the kernel's module: sudo modprobe \(module). In a container, pass the device: --device \(path)."
            )
        case EACCES, EPERM:
            return (
                "This user may not open \(path).",
                "Add the udev rule of docs/guide/input.md, Gamepads: KERNEL==\"\(module)\", TAG+=\"uaccess\"."
            )
        case let reason:
            return ("\(path) cannot be used: \(String(cString: strerror(reason))).", "Only gamepads need it.")
        }
    }

    /// What `heliograph doctor` shows: one finding a type.
    package static func findings() -> [Finding] {
        GamepadType.allCases.map { type in
            let check = "gamepad-\(type.name)"
            if let problem = problem(of: type) {
                return Finding(check, .warning, problem.what, advice: "Only gamepads need it. \(problem.advice)")
            }
            return Finding(check, .ok, "Gamepads of the type \(type.name) can be made, by \(type.node).")
        }
    }
}
