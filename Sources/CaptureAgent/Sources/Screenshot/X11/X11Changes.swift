import CXCB

/// Has an X server report changes of its screen. Each report is an event of the connection. Used in one thread.
struct X11Changes {
    private let connection: X11Connection
    private let damage: xcb_damage_damage_t
    private let isOfPointer: Bool
    private var watchesPointer = false

    /// - Parameter ofPointer: Whether its moves and its looks count.
    /// - Returns: `nil` if the server cannot report all of them.
    init?(_ connection: X11Connection, ofPointer: Bool) throws(SourceError) {
        guard try Self.hasDamage(connection) else { return nil }
        if ofPointer {
            guard try Self.hasRawMotion(connection) else { return nil }
            let looks = XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR.rawValue
            xcb_xfixes_select_cursor_input(connection.handle, connection.root, looks)
        }
        if try connection.has("RANDR") {
            let sizes = XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE.rawValue | XCB_RANDR_NOTIFY_MASK_CRTC_CHANGE.rawValue
            xcb_randr_select_input(connection.handle, connection.root, UInt16(sizes))
        }
        self.connection = connection
        isOfPointer = ofPointer
        damage = xcb_generate_id(connection.handle)
        // One report, until the damage is forgotten.
        let level = UInt8(XCB_DAMAGE_REPORT_LEVEL_NON_EMPTY.rawValue)
        xcb_damage_create(connection.handle, damage, connection.root, level)
    }

    /// Has the next change reported.
    func forget() { xcb_damage_subtract(connection.handle, damage, 0, 0) }

    /// Has the pointer's moves reported, or not. A mouse makes up to a thousand a second.
    mutating func watchPointer(_ isOn: Bool) {
        guard isOfPointer, watchesPointer != isOn else { return }
        watchesPointer = isOn
        selectRawMotion(isOn)
        xcb_flush(connection.handle)
    }

    // MARK: - Private

    private static func hasDamage(_ connection: X11Connection) throws(SourceError) -> Bool {
        guard try connection.has("DAMAGE") else { return false }
        let request = xcb_damage_query_version(connection.handle, 1, 1)
        let version: X11Answer<xcb_damage_query_version_reply_t>? =
            try connection.answer(to: request.sequence, stop: nil)
        return version != nil
    }

    /// From XInput 2.1 on, moves are reported whichever program has grabbed the pointer.
    private static func hasRawMotion(_ connection: X11Connection) throws(SourceError) -> Bool {
        guard try connection.has("XInputExtension") else { return false }
        let request = xcb_input_xi_query_version(connection.handle, 2, 1)
        let version: X11Answer<xcb_input_xi_query_version_reply_t>? =
            try connection.answer(to: request.sequence, stop: nil)
        return version.map { ($0.pointee.major_version, $0.pointee.minor_version) >= (2, 1) } ?? false
    }

    private func selectRawMotion(_ isOn: Bool) {
        /// The request has the words right after the head.
        struct Selection {
            var head: xcb_input_event_mask_t
            var words: UInt32
        }
        var selection = Selection(
            head: xcb_input_event_mask_t(deviceid: UInt16(XCB_INPUT_DEVICE_ALL_MASTER.rawValue), mask_len: 1),
            words: isOn ? XCB_INPUT_XI_EVENT_MASK_RAW_MOTION.rawValue : 0
        )
        // Unsafe because the request reads beyond the head.
        withUnsafeBytes(of: &selection) { bytes in
            let head = bytes.baseAddress?.assumingMemoryBound(to: xcb_input_event_mask_t.self)
            _ = xcb_input_xi_select_events(connection.handle, connection.root, 1, head)
        }
    }
}
