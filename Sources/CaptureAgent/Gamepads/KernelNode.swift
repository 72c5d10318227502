import CInput
package import Gamepads
import Glibc

/// A device node of the kernel: the seam between gamepads, which are pure code, and the kernel. Owned by one thread.
package protocol KernelNode: AnyObject {
    /// A descriptor that is readable when ``read(_:)`` returns something.
    var descriptor: Int32 { get }
    func write(_ bytes: [UInt8]) throws(InputFailure)
    /// Returns at most `count` bytes; none if nothing has come.
    func read(_ count: Int) throws(InputFailure) -> [UInt8]
    /// Calls ioctl(2) with a number.
    func control(_ request: UInt, _ number: Int32) throws(InputFailure)
    /// Calls ioctl(2) with bytes, and returns what they have become.
    func control(_ request: UInt, _ bytes: [UInt8]) throws(InputFailure) -> [UInt8]
    /// Ends the device. Must be called once.
    func close()
}

extension KernelNode {
    /// Makes a virtual device of an open /dev/uinput.
    package func make(_ device: UinputDevice) throws(InputFailure) {
        for request in device.setup {
            switch request {
            case .number(let request, let number): try control(request, number)
            case .bytes(let request, let bytes): _ = try control(request, bytes)
            }
        }
    }
}

/// A device node that is open.
final class DeviceNode: KernelNode {
    private let path: String
    let descriptor: Int32

    init(_ path: String) throws(InputFailure) {
        self.path = path
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 { throw Self.failure("\(path) cannot be opened", errno) }
    }

    func write(_ bytes: [UInt8]) throws(InputFailure) {
        // The kernel takes whole events.
        while Glibc.write(descriptor, bytes, bytes.count) < 0 {
            if errno != EINTR { throw Self.failure("\(path) takes no event", errno) }
        }
    }

    func read(_ count: Int) throws(InputFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = Glibc.read(descriptor, &bytes, count)
        if got > 0 { return Array(bytes.prefix(got)) }
        if got == 0 { throw .lost("\(path) has ended.") }
        guard errno == EAGAIN || errno == EINTR else { throw Self.failure("\(path) cannot be read", errno) }
        return []
    }

    func control(_ request: UInt, _ number: Int32) throws(InputFailure) {
        guard cinput_control_number(descriptor, request, number) >= 0 else {
            throw Self.failure("\(path) refuses a request", errno)
        }
    }

    func control(_ request: UInt, _ bytes: [UInt8]) throws(InputFailure) -> [UInt8] {
        var bytes = bytes
        guard cinput_control_bytes(descriptor, request, &bytes) >= 0 else {
            throw Self.failure("\(path) refuses a request", errno)
        }
        return bytes
    }

    func close() { Glibc.close(descriptor) }

    private static func failure(_ what: String, _ reason: Int32) -> InputFailure {
        .lost("\(what): \(String(cString: strerror(reason))).")
    }
}
