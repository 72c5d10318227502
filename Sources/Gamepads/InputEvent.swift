import CInput

/// An event of the kernel's input devices: struct input_event of linux/input.h.
package struct InputEvent: Sendable, Equatable {
    /// The size of its bytes on 64-bit machines; `CInput.c` checks the layout.
    package static let byteCount = 24

    /// EV_KEY, EV_ABS, …
    package var type: UInt16
    package var code: UInt16
    package var value: Int32

    package init(type: UInt16, code: UInt16, value: Int32) {
        (self.type, self.code, self.value) = (type, code, value)
    }

    package init(_ type: Int32, _ code: Int32, _ value: Int32) {
        self.init(type: UInt16(truncatingIfNeeded: type), code: UInt16(truncatingIfNeeded: code), value: value)
    }

    package static let report = InputEvent(EV_SYN, SYN_REPORT, 0)

    /// Its bytes with the time 0, which uinput replaces.
    package var bytes: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 16)
        bytes.append(host: type)
        bytes.append(host: code)
        bytes.append(host: value)
        return bytes
    }

    /// Reads whole events; the bytes of an incomplete one stay in `bytes`.
    package static func take(from bytes: inout [UInt8]) -> [InputEvent] {
        let count = bytes.count / byteCount
        defer { bytes.removeFirst(count * byteCount) }
        return (0..<count).compactMap { index in
            let start = index * byteCount
            guard let type: UInt16 = bytes.host(at: start + 16), let code: UInt16 = bytes.host(at: start + 18),
                let value: Int32 = bytes.host(at: start + 20)
            else { return nil }
            return InputEvent(type: type, code: code, value: value)
        }
    }
}
