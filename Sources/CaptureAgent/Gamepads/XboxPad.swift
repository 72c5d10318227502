import CInput
import Gamepads
package import Wire

/// An Xbox 360 pad by the kernel's uinput.
package final class XboxPad: GamepadDevice {
    private let node: any KernelNode
    private var effects = RumbleEffects()
    package private(set) var deadline: UInt64?
    package private(set) var feedback = GamepadFeedback()

    /// - Parameter node: The open /dev/uinput, which the pad closes.
    package init(_ node: any KernelNode) throws(InputFailure) {
        self.node = node
        do throws(InputFailure) {
            try node.make(XboxReport.device)
        } catch {
            node.close()
            throw error
        }
    }

    package var descriptor: Int32 { node.descriptor }

    package func show(_ state: GamepadState, now: UInt64) throws(InputFailure) {
        try node.write(XboxReport.events(state).flatMap(\.bytes))
    }

    package func receive(now: UInt64) throws(InputFailure) {
        while true {
            var bytes = try node.read(InputEvent.byteCount * 16)
            if bytes.isEmpty { break }
            for event in InputEvent.take(from: &bytes) { try follow(event, now: now) }
        }
        let motors = effects.motors(now: now)
        (feedback.strong, feedback.weak) = (motors.strong, motors.weak)
        deadline = motors.change
    }

    package func close() { node.close() }

    /// The application that uploads or erases an effect waits for the answer.
    private func follow(_ event: InputEvent, now: UInt64) throws(InputFailure) {
        switch (Int32(event.type), Int32(event.code)) {
        case (EV_UINPUT, UI_FF_UPLOAD):
            let size = RumbleEffects.uploadByteCount
            try answer(event, size, cinput_begin_upload, cinput_end_upload) { effects.upload($0) }
        case (EV_UINPUT, UI_FF_ERASE):
            let size = RumbleEffects.eraseByteCount
            try answer(event, size, cinput_begin_erase, cinput_end_erase) { effects.erase($0) }
        case (EV_FF, _): effects.take(event, now: now)
        default: break
        }
    }

    /// - Parameter work: Takes the request, and returns 0 or an error number.
    private func answer(
        _ event: InputEvent,
        _ size: Int,
        _ begin: UInt,
        _ end: UInt,
        _ work: ([UInt8]) -> Int32
    ) throws(InputFailure) {
        var request: [UInt8] = []
        request.append(host: event.value)
        request += [UInt8](repeating: 0, count: size - request.count)
        do throws(InputFailure) {
            request = try node.control(begin, request)
        } catch {
            // The application has given up: after 30 s the kernel forgets its request.
            return
        }
        var result: [UInt8] = []
        result.append(host: work(request))
        request.replaceSubrange(4..<8, with: result)
        _ = try node.control(end, request)
    }
}
