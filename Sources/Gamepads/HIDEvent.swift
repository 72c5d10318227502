import CInput

/// An event of the kernel's uhid: struct uhid_event of linux/uhid.h, as `CInput.c` checks its layout.
package enum HIDEvent: Sendable, Equatable {
    package static let longest = 4380

    /// Someone reads the device from now on.
    case open
    /// Nobody reads it any more.
    case close
    /// A report for the device, its id first.
    case output([UInt8])
    /// The kernel waits for a feature report.
    case getReport(request: UInt32, report: UInt8)
    /// The kernel waits until the device has taken a report, its id first.
    case setReport(request: UInt32, [UInt8])
    /// Nothing that matters here.
    case other

    package init(bytes: [UInt8]) { self = Self.event(bytes) ?? .other }

    private static func event(_ bytes: [UInt8]) -> HIDEvent? {
        guard let type: UInt32 = bytes.host(at: 0) else { return nil }
        switch uhid_event_type(type) {
        case UHID_OPEN: return .open
        case UHID_CLOSE: return .close
        case UHID_OUTPUT:
            guard let size: UInt16 = bytes.host(at: 4100), Int(size) <= Int(UHID_DATA_MAX) else { return nil }
            return .output(Array(bytes[4..<4 + Int(size)]))
        case UHID_GET_REPORT:
            guard let request: UInt32 = bytes.host(at: 4), let report: UInt8 = bytes.host(at: 8) else { return nil }
            return .getReport(request: request, report: report)
        case UHID_SET_REPORT:
            guard let request: UInt32 = bytes.host(at: 4), let size: UInt16 = bytes.host(at: 10),
                12 + Int(size) <= bytes.count
            else { return nil }
            return .setReport(request: request, Array(bytes[12..<12 + Int(size)]))
        default: return nil
        }
    }

    // MARK: - To the kernel

    /// Returns the event that makes a DualSense.
    package static var create: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(host: UHID_CREATE2.rawValue)
        bytes.append(DualSenseReport.name, byteCount: 128)
        bytes.append("heliograph/gamepad", byteCount: 64)
        bytes.append("", byteCount: 64)
        bytes.append(host: UInt16(DualSenseReport.descriptor.count))
        bytes.append(host: UInt16(BUS_USB))
        for number in [DualSenseReport.vendor, DualSenseReport.product, DualSenseReport.version, 0] {
            bytes.append(host: number)
        }
        return bytes + DualSenseReport.descriptor
    }

    /// Returns the event of an input report.
    package static func input(_ report: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(host: UHID_INPUT2.rawValue)
        bytes.append(host: UInt16(clamping: report.count))
        return bytes + report
    }

    /// Returns the answer to ``getReport(request:report:)``.
    ///
    /// - Parameter report: `nil` for an error.
    package static func answer(_ request: UInt32, _ report: [UInt8]?) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(host: UHID_GET_REPORT_REPLY.rawValue)
        bytes.append(host: request)
        bytes.append(host: report == nil ? failed : 0)
        bytes.append(host: UInt16(clamping: report?.count ?? 0))
        return bytes + (report ?? [])
    }

    /// Returns the answer to ``setReport(request:_:)``.
    package static func answer(_ request: UInt32, isTaken: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(host: UHID_SET_REPORT_REPLY.rawValue)
        bytes.append(host: request)
        bytes.append(host: isTaken ? 0 : failed)
        return bytes
    }

    /// EIO of errno-base.h.
    private static let failed: UInt16 = 5
}
