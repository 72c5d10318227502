import CInput
import CommandSupport
import Gamepads
@preconcurrency import Glibc
import Wire

/// A gamepad of this machine: a device node of the kernel's evdev.
struct EvdevDevice {
    private static let folder = "/dev/input"
    /// Bytes for the bits of all key codes and of all axes.
    private static let (keyBytes, axisBytes) = (96, 8)
    private static let microsoft: UInt16 = 0x045E

    let path: String
    let name: String
    /// Open. The caller closes it.
    let descriptor: Int32
    private var pad: EvdevPad

    /// Opens a device.
    ///
    /// - Throws: ``CommandError`` if it cannot be read, or is not a gamepad.
    init(path: String) throws(CommandError) {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(path, errno) }
        let keys = Self.bytes(descriptor, cinput_get_bits(UInt32(EV_KEY), Self.keyBytes), Self.keyBytes)
        let axes = Self.bytes(descriptor, cinput_get_bits(UInt32(EV_ABS), Self.axisBytes), Self.axisBytes)
        guard let keys, let axes, EvdevPad.isGamepad(keys: keys, axes: axes) else {
            close(descriptor)
            throw .failed("\(path) is not a gamepad. Leave --input out to see the gamepads of this machine")
        }
        self.path = path
        self.descriptor = descriptor
        let name = Self.bytes(descriptor, cinput_get_name(256), 256) ?? []
        self.name = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        pad = EvdevPad(axes: Self.ranges(descriptor, axes), codes: Self.codes(path, descriptor))
    }

    /// Returns the gamepads that this user may read, and how many devices this user may not.
    static func all() -> (gamepads: [EvdevDevice], unreadable: Int) {
        var (found, unreadable): ([EvdevDevice], Int) = ([], 0)
        for path in paths {
            if access(path, R_OK) != 0 {
                unreadable += 1
            } else if let device = try? EvdevDevice(path: path) {
                found.append(device)
            }
        }
        return (found, unreadable)
    }

    /// The device nodes in the order of their numbers.
    private static var paths: [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var numbers: [Int] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasPrefix("event"), let number = Int(name.dropFirst("event".count)) { numbers.append(number) }
        }
        return numbers.sorted().map { "\(folder)/event\($0)" }
    }

    /// Keeps the device's events from all other programs, until the descriptor is closed.
    func grab() throws(CommandError) {
        guard cinput_control_number(descriptor, cinput_grab, 1) >= 0 else {
            throw .failed(
                "\(path) cannot be kept from other programs: \(String(cString: strerror(errno))). End the program that "
                    + "has it, or use --shared"
            )
        }
    }

    /// Reads what is pressed and moved now.
    ///
    /// - Returns: `nil` if the device is gone.
    mutating func current() -> GamepadState? {
        guard let keys = Self.bytes(descriptor, cinput_get_keys(Self.keyBytes), Self.keyBytes) else { return nil }
        var values: [UInt16: Int32] = [:]
        for code in pad.axisCodes { values[code] = Self.axis(descriptor, code)?.host(at: 0) }
        return pad.reset(keys: keys, values: values)
    }

    mutating func take(_ event: InputEvent) -> EvdevPad.Outcome { pad.take(event) }

    // MARK: - ioctl(2)

    private static func bytes(_ descriptor: Int32, _ request: UInt, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return cinput_control_bytes(descriptor, request, &bytes) >= 0 ? bytes : nil
    }

    /// struct input_absinfo.
    private static func axis(_ descriptor: Int32, _ code: UInt16) -> [UInt8]? {
        bytes(descriptor, cinput_get_axis(UInt32(code)), 24)
    }

    private static func ranges(_ descriptor: Int32, _ axes: [UInt8]) -> [UInt16: EvdevPad.Axis] {
        var ranges: [UInt16: EvdevPad.Axis] = [:]
        for code in 0..<UInt16(axisBytes * 8) where EvdevPad.bit(Int32(code), of: axes) {
            guard let bytes = axis(descriptor, code), let minimum: Int32 = bytes.host(at: 4),
                let maximum: Int32 = bytes.host(at: 8)
            else { continue }
            ranges[code] = EvdevPad.Axis(minimum: minimum, maximum: maximum)
        }
        return ranges
    }

    /// Xbox pads, and other pads of the driver xpad, have the codes of X and Y exchanged.
    private static func codes(_ path: String, _ descriptor: Int32) -> ButtonCodes {
        let vendor: UInt16? = bytes(descriptor, cinput_get_id, 8)?.host(at: 2)
        if vendor == microsoft { return .xpad }
        let node = path.split(separator: "/").last.map(String.init) ?? ""
        guard let driver = realpath("/sys/class/input/\(node)/device/device/driver", nil) else { return .positions }
        defer { free(driver) }
        return String(cString: driver).hasSuffix("/xpad") ? .xpad : .positions
    }

    private static func unreadable(_ path: String, _ reason: Int32) -> CommandError {
        let advice = reason == EACCES ? ". Add your user to the group input, and log in again" : ""
        return .failed("cannot read \(path): \(String(cString: strerror(reason)))\(advice)")
    }
}
