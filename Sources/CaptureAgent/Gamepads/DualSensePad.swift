import Gamepads
package import Wire

/// A DualSense by the kernel's uhid, for the driver hid-playstation.
package final class DualSensePad: GamepadDevice {
    private let node: any KernelNode
    /// Six bytes, the last one first. The driver refuses two pads with the same one.
    private let address: [UInt8]
    private var state = GamepadState.neutral
    private var sequence: UInt8 = 0
    /// Whether the driver takes input reports.
    private var isOpen = false
    package let deadline: UInt64? = nil
    package private(set) var feedback = GamepadFeedback()

    /// - Parameter node: The open /dev/uhid, which the pad closes.
    package init(_ node: any KernelNode, address: [UInt8]) throws(InputFailure) {
        self.node = node
        self.address = address
        do throws(InputFailure) {
            try node.write(HIDEvent.create)
        } catch {
            node.close()
            throw error
        }
    }

    /// A random address of the kind that anyone may make up.
    package static var newAddress: [UInt8] {
        let random = UInt64.random(in: .min ... .max)
        let bytes = (0..<5).map { UInt8(truncatingIfNeeded: random >> ($0 * 8)) }
        return bytes + [UInt8(truncatingIfNeeded: random >> 40) & 0xFC | 0x02]
    }

    package var descriptor: Int32 { node.descriptor }

    package func show(_ state: GamepadState, now: UInt64) throws(InputFailure) {
        self.state = state
        guard isOpen else { return }
        try node.write(HIDEvent.input(DualSenseReport.input(state, sequence: sequence, time: now)))
        sequence &+= 1
    }

    package func receive(now: UInt64) throws(InputFailure) {
        while true {
            let bytes = try node.read(HIDEvent.longest)
            if bytes.isEmpty { return }
            switch HIDEvent(bytes: bytes) {
            case .open:
                isOpen = true
                try show(state, now: now)
            case .close: isOpen = false
            case .output(let report): _ = DualSenseReport.apply(report, to: &feedback)
            case .getReport(let request, let report):
                try node.write(HIDEvent.answer(request, DualSenseReport.feature(report, address: address)))
            case .setReport(let request, let report):
                let isTaken = DualSenseReport.apply(report, to: &feedback)
                try node.write(HIDEvent.answer(request, isTaken: isTaken))
            case .other: break
            }
        }
    }

    package func close() { node.close() }
}
