import CXCB
import Glibc
import Wire

/// The windows of an X server: those of its window manager (EWMH 1.5), or without one the root's children.
struct X11Windows: DesktopWindows {
    /// How long a window manager may take to focus a window, in ns.
    private static let focusTime: UInt64 = .milliseconds(2_000)
    /// The most windows that are read.
    private static let mostWindows: UInt32 = 4096

    private let connection: X11Connection

    init() throws(WindowFailure) {
        connection = try Self.explaining { () throws(SourceError) in try X11Connection() }
    }

    func close() { connection.close() }

    func windows() throws(WindowFailure) -> [DesktopWindow] {
        try Self.explaining { () throws(SourceError) -> [DesktopWindow] in
            var windows = try managed()
            if windows == nil { windows = try topWindows() }
            var found: [DesktopWindow] = []
            for window in windows ?? [] {
                if let pid = try process(of: window) { found.append(DesktopWindow(id: Int(window), pid: pid)) }
            }
            return found
        }
    }

    func focus(_ window: DesktopWindow) throws(WindowFailure) {
        let id = xcb_window_t(truncatingIfNeeded: window.id)
        let isDone = try Self.explaining { () throws(SourceError) -> Bool in
            guard let active = try atom("_NET_ACTIVE_WINDOW") else { return try focusUnmanaged(id) }
            guard try hasManager() else { return try focusUnmanaged(id) }
            let supported = try atom("_NET_SUPPORTED")
            guard let supported, try words(of: connection.root, supported).contains(active) else { return false }
            activate(id, active)
            return try wait { () throws(SourceError) in try words(of: connection.root, active).first == id }
        }
        guard isDone else { throw WindowFailure(.failed, "The window manager did not focus the window.") }
    }

    // MARK: Windows

    /// Returns the window manager's windows, the oldest first; `nil` without a window manager that lists them.
    private func managed() throws(SourceError) -> [xcb_window_t]? {
        guard try hasManager(), let list = try atom("_NET_CLIENT_LIST") else { return nil }
        return try words(of: connection.root, list)
    }

    /// Whether a window manager of EWMH runs: it has a window that names itself.
    private func hasManager() throws(SourceError) -> Bool {
        guard let check = try atom("_NET_SUPPORTING_WM_CHECK") else { return false }
        guard let window = try words(of: connection.root, check).first else { return false }
        return try words(of: window, check).first == window
    }

    /// Returns the root's visible children, from the lowest to the topmost. Menus and the like, which no window manager
    /// would manage, come first.
    private func topWindows() throws(SourceError) -> [xcb_window_t] {
        let request = xcb_query_tree(connection.handle, connection.root)
        let tree: X11Answer<xcb_query_tree_reply_t>? = try connection.answer(to: request.sequence, stop: nil)
        guard let tree else { return [] }
        let children = withExtendedLifetime(tree) {
            Array(
                UnsafeBufferPointer(
                    start: xcb_query_tree_children(tree.pointer),
                    count: Int(xcb_query_tree_children_length(tree.pointer))
                )
            )
        }
        var (shown, unmanageable): ([xcb_window_t], [xcb_window_t]) = ([], [])
        for window in children {
            let request = xcb_get_window_attributes(connection.handle, window)
            let answer: X11Answer<xcb_get_window_attributes_reply_t>? = try connection.answer(
                to: request.sequence,
                stop: nil
            )
            guard let attributes = answer?.pointee,
                attributes.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue),
                attributes._class == UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue)
            else { continue }
            if attributes.override_redirect == 0 { shown.append(window) } else { unmanageable.append(window) }
        }
        return unmanageable + shown
    }

    /// Returns the process of a window's client: what the server says, because a window need not name it.
    private func process(of window: xcb_window_t) throws(SourceError) -> Int32? {
        if try connection.has("X-Resource") {
            var specification = xcb_res_client_id_spec_t(
                client: window,
                mask: XCB_RES_CLIENT_ID_MASK_LOCAL_CLIENT_PID.rawValue
            )
            let request = xcb_res_query_client_ids(connection.handle, 1, &specification)
            let answer: X11Answer<xcb_res_query_client_ids_reply_t>? = try connection.answer(
                to: request.sequence,
                stop: nil
            )
            if let answer {
                let pid = withExtendedLifetime(answer) { () -> Int32? in
                    let ids = xcb_res_query_client_ids_ids_iterator(answer.pointer)
                    guard ids.rem > 0, let id = ids.data, xcb_res_client_id_value_value_length(id) > 0 else {
                        return nil
                    }
                    return xcb_res_client_id_value_value(id).map { Int32(truncatingIfNeeded: $0.pointee) }
                }
                if let pid, pid > 0 { return pid }
            }
        }
        guard let atom = try atom("_NET_WM_PID") else { return nil }
        return try words(of: window, atom).first.map { Int32(truncatingIfNeeded: $0) }
    }

    // MARK: Focus

    /// Asks the window manager to activate a window, as a pager does.
    private func activate(_ window: xcb_window_t, _ active: xcb_atom_t) {
        var event = xcb_client_message_event_t()
        event.response_type = UInt8(XCB_CLIENT_MESSAGE)
        event.format = 32
        event.window = window
        event.type = active
        event.data.data32 = (2, 0, 0, 0, 0)
        let mask = XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue
        withUnsafeBytes(of: &event) { bytes in
            let text = bytes.bindMemory(to: CChar.self).baseAddress
            _ = xcb_send_event(connection.handle, 0, connection.root, mask, text)
        }
    }

    /// Raises a window and gives it the keyboard, which no window manager does here.
    private func focusUnmanaged(_ window: xcb_window_t) throws(SourceError) -> Bool {
        var above = XCB_STACK_MODE_ABOVE.rawValue
        xcb_configure_window(connection.handle, window, UInt16(XCB_CONFIG_WINDOW_STACK_MODE.rawValue), &above)
        let revert = UInt8(XCB_INPUT_FOCUS_PARENT.rawValue)
        xcb_set_input_focus(connection.handle, revert, window, xcb_timestamp_t(XCB_CURRENT_TIME))
        return try wait { () throws(SourceError) in
            let request = xcb_get_input_focus(connection.handle)
            let answer: X11Answer<xcb_get_input_focus_reply_t>? = try connection.answer(
                to: request.sequence,
                stop: nil
            )
            return answer?.pointee.focus == window
        }
    }

    /// Waits until a condition is true.
    private func wait(_ condition: () throws(SourceError) -> Bool) throws(SourceError) -> Bool {
        let deadline = MonotonicClock.now + Self.focusTime
        while try !condition() {
            guard MonotonicClock.now < deadline else { return false }
            usleep(10_000)
        }
        return true
    }

    // MARK: Properties

    /// Returns an atom; `nil` if no client has made it.
    private func atom(_ name: String) throws(SourceError) -> xcb_atom_t? {
        let request = xcb_intern_atom(connection.handle, 1, UInt16(name.utf8.count), name)
        let answer: X11Answer<xcb_intern_atom_reply_t>? = try connection.answer(to: request.sequence, stop: nil)
        return answer.flatMap { $0.pointee.atom == 0 ? nil : $0.pointee.atom }
    }

    /// Returns a property's words of 32 bits; none without the property.
    private func words(of window: xcb_window_t, _ property: xcb_atom_t) throws(SourceError) -> [UInt32] {
        let request = xcb_get_property(connection.handle, 0, window, property, 0, 0, Self.mostWindows)
        let answer: X11Answer<xcb_get_property_reply_t>? = try connection.answer(to: request.sequence, stop: nil)
        guard let answer, answer.pointee.format == 32 else { return [] }
        return withExtendedLifetime(answer) {
            let count = Int(xcb_get_property_value_length(answer.pointer)) / 4
            guard let value = xcb_get_property_value(answer.pointer) else { return [] }
            return Array(UnsafeBufferPointer(start: value.assumingMemoryBound(to: UInt32.self), count: count))
        }
    }

    private static func explaining<Value>(_ body: () throws(SourceError) -> Value) throws(WindowFailure) -> Value {
        do throws(SourceError) {
            return try body()
        } catch {
            throw WindowFailure(.failed, error.detail)
        }
    }
}
