import CXCB
import Wire

/// Contents on their way to X programs that paste. A long one goes in parts (INCR): each is written when the program
/// has deleted the one before.
struct X11ClipboardTransfers {
    private struct Transfer {
        let requestor: xcb_window_t
        let property: xcb_atom_t
        let type: xcb_atom_t
        let bytes: [UInt8]
        var count = 0
        var deadline: UInt64
    }

    /// The most programs that are served at the same time.
    private static let capacity = 16
    /// The most bytes of a part. Every X server takes a request with so many.
    private static let part = 128 << 10

    private let handle: OpaquePointer
    private let incremental: xcb_atom_t
    private var transfers: [Transfer] = []

    init(handle: OpaquePointer, incremental: xcb_atom_t) {
        (self.handle, self.incremental) = (handle, incremental)
    }

    /// When a program that does not read is given up, in monotonic ns.
    var deadline: UInt64? { transfers.map(\.deadline).min() }

    /// Writes a content, or announces that it comes in parts.
    mutating func begin(_ bytes: [UInt8], _ type: xcb_atom_t, _ property: xcb_atom_t, _ requestor: xcb_window_t) {
        let replace = UInt8(XCB_PROP_MODE_REPLACE.rawValue)
        transfers.removeAll { $0.requestor == requestor && $0.property == property }
        guard bytes.count > Self.part else {
            xcb_change_property(handle, replace, requestor, property, type, 8, UInt32(bytes.count), bytes)
            return
        }
        if transfers.count == Self.capacity { remove(at: 0) }
        follow(requestor, XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue)
        xcb_change_property(handle, replace, requestor, property, incremental, 32, 1, [UInt32(bytes.count)])
        let deadline = MonotonicClock.now + ClipboardPatience.pause
        transfers.append(
            Transfer(requestor: requestor, property: property, type: type, bytes: bytes, deadline: deadline)
        )
    }

    /// Writes the next part, or an empty one at the end, because a program has deleted the one before.
    mutating func proceed(_ requestor: xcb_window_t, _ property: xcb_atom_t) {
        let index = transfers.firstIndex { $0.requestor == requestor && $0.property == property }
        guard let index else { return }
        let transfer = transfers[index]
        let part = Array(transfer.bytes[transfer.count...].prefix(Self.part))
        let replace = UInt8(XCB_PROP_MODE_REPLACE.rawValue)
        xcb_change_property(handle, replace, requestor, property, transfer.type, 8, UInt32(part.count), part)
        if part.isEmpty {
            remove(at: index)
        } else {
            transfers[index].count += part.count
            transfers[index].deadline = MonotonicClock.now + ClipboardPatience.pause
        }
    }

    /// Gives up the programs that do not read.
    mutating func expire(now: UInt64) {
        while let index = transfers.firstIndex(where: { $0.deadline <= now }) { remove(at: index) }
    }

    private mutating func remove(at index: Int) {
        let requestor = transfers.remove(at: index).requestor
        if !transfers.contains(where: { $0.requestor == requestor }) { follow(requestor, 0) }
    }

    private func follow(_ window: xcb_window_t, _ mask: UInt32) {
        xcb_change_window_attributes(handle, window, XCB_CW_EVENT_MASK.rawValue, [mask])
    }
}
