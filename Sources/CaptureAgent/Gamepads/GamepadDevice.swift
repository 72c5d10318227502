package import Wire

/// A virtual gamepad, which exists until it is closed. Owned by one thread.
package protocol GamepadDevice: AnyObject {
    /// Readable when ``receive(now:)`` has something to do.
    var descriptor: Int32 { get }
    /// When ``receive(now:)`` must be called although nothing has come, in monotonic ns; `nil` for never.
    var deadline: UInt64? { get }
    /// What applications want of it.
    var feedback: GamepadFeedback { get }

    /// Shows a state to applications.
    func show(_ state: GamepadState, now: UInt64) throws(InputFailure)
    /// Answers the kernel, and follows what applications want.
    func receive(now: UInt64) throws(InputFailure)
    /// Ends the gamepad. Must be called once.
    func close()
}

extension GamepadType {
    /// The device node that the type needs.
    package var node: String {
        switch self {
        case .xbox: "/dev/uinput"
        case .dualsense: "/dev/uhid"
        }
    }

    /// Makes a gamepad of this type.
    package func device() throws(InputFailure) -> any GamepadDevice {
        if let problem = GamepadDiagnosis.problem(of: self) { throw .unsupported("\(problem.what) \(problem.advice)") }
        let node = try DeviceNode(node)
        let pad: any GamepadDevice =
            switch self {
            case .xbox: try XboxPad(node)
            case .dualsense: try DualSensePad(node, address: DualSensePad.newAddress)
            }
        do throws(InputFailure) {
            return GuardedPad(pad, try GamepadGuard(self, node: node.descriptor))
        } catch {
            pad.close()
            throw error
        }
    }
}
