import CInput

/// A virtual device as uinput makes it: its name and what it has. A value.
package struct UinputDevice: Sendable, Equatable {
    /// A call of ioctl(2).
    package enum Request: Sendable, Equatable {
        case number(UInt, Int32)
        case bytes(UInt, [UInt8])
    }

    /// An axis by its code and its range.
    package struct Axis: Sendable, Equatable {
        let code: Int32
        let minimum: Int32
        let maximum: Int32
        var fuzz: Int32
        var flat: Int32

        package init(_ code: Int32, _ range: ClosedRange<Int32>, fuzz: Int32 = 0, flat: Int32 = 0) {
            self.code = code
            (minimum, maximum) = (range.lowerBound, range.upperBound)
            (self.fuzz, self.flat) = (fuzz, flat)
        }

        /// struct uinput_abs_setup.
        fileprivate var bytes: [UInt8] {
            var bytes: [UInt8] = []
            bytes.append(host: UInt16(truncatingIfNeeded: code))
            bytes.append(host: UInt16(0))
            for number in [0, minimum, maximum, fuzz, flat, 0] { bytes.append(host: number) }
            return bytes
        }
    }

    package var name: String
    /// BUS_USB, BUS_VIRTUAL, …
    package var bus: Int32
    package var vendor: UInt16
    package var product: UInt16
    package var version: UInt16
    /// Codes of keys and buttons.
    package var keys: [Int32]
    /// Codes of relative axes.
    package var motions: [Int32] = []
    package var axes: [Axis] = []
    /// Codes of effects, and how many of them applications may have at a time.
    package var effects: [Int32] = []
    package var effectLimit: UInt32 = 0
    /// INPUT_PROP_DIRECT, …
    package var properties: [Int32] = []

    package init(name: String, bus: Int32, vendor: UInt16, product: UInt16, version: UInt16, keys: [Int32]) {
        (self.name, self.bus) = (name, bus)
        (self.vendor, self.product, self.version) = (vendor, product, version)
        self.keys = keys
    }

    /// The calls that make the device, in their order.
    package var setup: [Request] {
        let types = [
            (EV_KEY, keys.isEmpty), (EV_REL, motions.isEmpty), (EV_ABS, axes.isEmpty), (EV_FF, effects.isEmpty),
        ]
        var requests = types.filter { !$0.1 }.map { Request.number(cinput_set_event_bit, $0.0) }
        requests += keys.map { .number(cinput_set_key_bit, $0) }
        requests += motions.map { .number(cinput_set_motion_bit, $0) }
        requests += axes.map { .number(cinput_set_axis_bit, $0.code) }
        requests += effects.map { .number(cinput_set_feedback_bit, $0) }
        requests += properties.map { .number(cinput_set_property_bit, $0) }
        requests += axes.map { .bytes(cinput_axis_setup, $0.bytes) }
        return requests + [.bytes(cinput_device_setup, description), .number(cinput_device_create, 0)]
    }

    /// struct uinput_setup.
    private var description: [UInt8] {
        var bytes: [UInt8] = []
        for number in [UInt16(truncatingIfNeeded: bus), vendor, product, version] { bytes.append(host: number) }
        bytes.append(name, byteCount: Int(UINPUT_MAX_NAME_SIZE))
        bytes.append(host: effectLimit)
        return bytes
    }
}
