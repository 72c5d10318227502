import CXCB
import Glibc
import Wire

/// The selection CLIPBOARD of the X server of DISPLAY, as the ICCCM (section 2) describes it.
final class X11Clipboard: ClipboardBackend, ClipboardLoop {
    /// The bytes that are read from a property at once, a multiple of 4.
    private static let step = 256 << 10
    /// The type of texts in ISO 8859-1. Old programs have no other.
    private static let latin1 = xcb_atom_t(XCB_ATOM_STRING.rawValue)

    private let connection: X11Connection
    /// An invisible window, which has the selection and receives properties.
    private let window: xcb_window_t
    private let atoms: X11ClipboardAtoms
    /// What was set here and when, while this has the selection.
    private var own: (content: ClipboardContent, time: xcb_timestamp_t)?
    private var transfers: X11ClipboardTransfers
    /// The last answer to a request of ours.
    private var answer: xcb_selection_notify_event_t?
    /// Whether another program has written to our property.
    private var isWritten = false
    /// The server's time, from an event that was caused to learn it.
    private var time: xcb_timestamp_t?

    init() throws(ClipboardFailure) {
        let connection = try ClipboardFailure.explaining { () throws(SourceError) in try X11Connection() }
        do throws(ClipboardFailure) {
            atoms = try ClipboardFailure.explaining { () throws(SourceError) in try X11ClipboardAtoms(connection) }
        } catch {
            connection.close()
            throw error
        }
        self.connection = connection
        window = xcb_generate_id(connection.handle)
        transfers = X11ClipboardTransfers(handle: connection.handle, incremental: atoms.incremental)
        xcb_create_window(
            connection.handle,
            0,
            window,
            connection.root,
            0,
            0,
            1,
            1,
            0,
            UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue),
            0,
            XCB_CW_EVENT_MASK.rawValue,
            [XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue]
        )
    }

    func close() {
        connection.close()
    }

    // MARK: - ClipboardBackend

    func set(_ content: ClipboardContent, stop: Event) throws(ClipboardFailure) {
        let time = try serverTime(stop)
        xcb_set_selection_owner(connection.handle, window, atoms.clipboard, time)
        guard try owner() == window else { throw .refused(.failed, "Another program has taken the clipboard.") }
        own = (content, time)
        try proceed()
    }

    func get(_ kind: ClipboardContent.Kind, stop: Event) throws(ClipboardFailure) -> ClipboardContent {
        let holder = try owner()
        try proceed()
        guard holder != XCB_WINDOW_NONE.rawValue else { throw .empty(kind) }
        if let own {
            guard own.content.kind == kind else { throw .empty(kind) }
            return own.content
        }
        let time = try serverTime(stop)
        let end = MonotonicClock.now + ClipboardPatience.whole
        let offered = try convert(atoms.targets, at: time, kind, until: end, stop).map(X11ClipboardAtoms.list)
        for target in atoms.types(of: kind) + (kind == .text ? [Self.latin1] : []) {
            // A program that does not list its types is asked for each.
            guard offered?.contains(target) ?? true,
                let bytes = try convert(target, at: time, kind, until: end, stop)
            else { continue }
            guard target == Self.latin1 else { return ClipboardContent(kind, bytes) }
            var text = String.UnicodeScalarView()
            text.append(contentsOf: bytes.map { Unicode.Scalar($0) })
            return ClipboardContent(kind, Array(String(text).utf8))
        }
        throw .empty(kind)
    }

    // MARK: - ClipboardLoop

    var interests: [Poll.Interest] { [Poll.Interest(connection.descriptor)] }

    var deadline: UInt64? { transfers.deadline }

    func proceed() throws(ClipboardFailure) {
        while let event = xcb_poll_for_event(connection.handle) {
            handle(event)
            free(event)
        }
        transfers.expire(now: MonotonicClock.now)
        xcb_flush(connection.handle)
        guard xcb_connection_has_error(connection.handle) == 0 else {
            throw .lost("The connection to the X server broke.")
        }
    }

    private func handle(_ event: UnsafeMutablePointer<xcb_generic_event_t>) {
        let memory = UnsafeRawPointer(event)
        switch Int32(event.pointee.response_type & 0x7F) {
        case XCB_SELECTION_CLEAR:
            let event = memory.load(as: xcb_selection_clear_event_t.self)
            // It may be about what was set before.
            guard event.owner == window, let own, Int32(bitPattern: event.time &- own.time) >= 0 else { return }
            self.own = nil
        case XCB_SELECTION_REQUEST:
            serve(memory.load(as: xcb_selection_request_event_t.self))
        case XCB_SELECTION_NOTIFY:
            let event = memory.load(as: xcb_selection_notify_event_t.self)
            if event.requestor == window { answer = event }
        case XCB_PROPERTY_NOTIFY:
            let event = memory.load(as: xcb_property_notify_event_t.self)
            let isDeleted = event.state == UInt8(XCB_PROPERTY_DELETE.rawValue)
            if event.window != window {
                if isDeleted { transfers.proceed(event.window, event.atom) }
            } else if !isDeleted {
                if event.atom == atoms.time { time = event.time } else { isWritten = true }
            }
        default: break
        }
    }

    // MARK: - Setting

    /// Answers a program that pastes.
    private func serve(_ request: xcb_selection_request_event_t) {
        var notice = xcb_selection_notify_event_t()
        notice.response_type = UInt8(truncatingIfNeeded: XCB_SELECTION_NOTIFY)
        notice.time = request.time
        notice.requestor = request.requestor
        notice.selection = request.selection
        notice.target = request.target
        // Old programs name no property.
        let property = request.property == XCB_ATOM_NONE.rawValue ? request.target : request.property
        // This window's own properties are followed for another purpose.
        let isForeign = request.requestor != window
        if isForeign, request.selection == atoms.clipboard, let own,
            put(own, request.target, property, request.requestor)
        {
            notice.property = property
        }
        // An event has 32 bytes, of which this type uses 24.
        var event = withUnsafeBytes(of: notice) { $0.map { CChar(bitPattern: $0) } }
        event += Array(repeating: 0, count: 32 - event.count)
        xcb_send_event(connection.handle, 0, request.requestor, 0, event)
    }

    /// Writes what a program asks for to its property.
    ///
    /// - Returns: `false` if there is no such type.
    private func put(
        _ own: (content: ClipboardContent, time: xcb_timestamp_t),
        _ target: xcb_atom_t,
        _ property: xcb_atom_t,
        _ requestor: xcb_window_t
    ) -> Bool {
        let types = atoms.types(of: own.content.kind)
        switch target {
        case atoms.targets:
            put([atoms.targets, atoms.timestamp] + types, XCB_ATOM_ATOM, property, requestor)
        case atoms.timestamp:
            put([own.time], XCB_ATOM_INTEGER, property, requestor)
        case _ where types.contains(target):
            transfers.begin(own.content.bytes, target, property, requestor)
        default: return false
        }
        return true
    }

    private func put(
        _ words: [UInt32],
        _ type: xcb_atom_enum_t,
        _ property: xcb_atom_t,
        _ requestor: xcb_window_t
    ) {
        let mode = UInt8(XCB_PROP_MODE_REPLACE.rawValue)
        xcb_change_property(connection.handle, mode, requestor, property, type.rawValue, 32, UInt32(words.count), words)
    }

    // MARK: - Getting

    private func owner() throws(ClipboardFailure) -> xcb_window_t {
        let request = xcb_get_selection_owner(connection.handle, atoms.clipboard)
        let reply: X11Answer<xcb_get_selection_owner_reply_t>? = try ClipboardFailure.explaining {
            () throws(SourceError) in
            try connection.answer(to: request.sequence, stop: nil)
        }
        return reply?.pointee.owner ?? XCB_WINDOW_NONE.rawValue
    }

    /// Returns the server's time, which the ICCCM wants in requests.
    private func serverTime(_ stop: Event) throws(ClipboardFailure) -> xcb_timestamp_t {
        time = nil
        let mode = UInt8(XCB_PROP_MODE_APPEND.rawValue)
        xcb_change_property(connection.handle, mode, window, atoms.time, XCB_ATOM_INTEGER.rawValue, 32, 0, nil)
        try waitForProgram(stop: stop) { time != nil }
        return time ?? xcb_timestamp_t(XCB_CURRENT_TIME)
    }

    /// Asks the selection's owner for its content.
    ///
    /// - Parameter end: When the owner must be done, in monotonic ns.
    /// - Returns: `nil` if it has none of that type.
    private func convert(
        _ target: xcb_atom_t,
        at time: xcb_timestamp_t,
        _ kind: ClipboardContent.Kind,
        until end: UInt64,
        _ stop: Event
    ) throws(ClipboardFailure) -> [UInt8]? {
        answer = nil
        xcb_delete_property(connection.handle, window, atoms.property)
        xcb_convert_selection(connection.handle, window, atoms.clipboard, target, atoms.property, time)
        // An answer of another time or type is late, to a request that was given up.
        try waitForProgram(stop: stop) { answer.map { $0.target == target && $0.time == time } ?? false }
        guard answer?.property != XCB_ATOM_NONE.rawValue else { return nil }
        isWritten = false
        let first = try property(kind, with: 0)
        guard first.type == atoms.incremental else { return first.bytes }
        // The owner writes the next part when it sees that the last one is deleted, and an empty one at the end.
        var bytes: [UInt8] = []
        while true {
            try waitForProgram(stop: stop) { isWritten }
            isWritten = false
            let part = try property(kind, with: bytes.count).bytes
            if part.isEmpty { return bytes }
            bytes += part
            guard MonotonicClock.now < end else { throw .silent }
        }
    }

    /// Reads and deletes our property.
    ///
    /// - Parameter count: How many bytes the content has without it.
    private func property(
        _ kind: ClipboardContent.Kind,
        with count: Int
    ) throws(ClipboardFailure) -> (type: xcb_atom_t, bytes: [UInt8]) {
        var (type, bytes): (xcb_atom_t, [UInt8]) = (XCB_ATOM_NONE.rawValue, [])
        while true {
            // The server deletes it when all is read.
            let request = xcb_get_property(
                connection.handle,
                1,
                window,
                atoms.property,
                XCB_GET_PROPERTY_TYPE_ANY.rawValue,
                UInt32(bytes.count / 4),
                UInt32(Self.step / 4)
            )
            let reply: X11Answer<xcb_get_property_reply_t>? = try ClipboardFailure.explaining {
                () throws(SourceError) in
                try connection.answer(to: request.sequence, stop: nil)
            }
            guard let reply, reply.pointee.type != XCB_ATOM_NONE.rawValue else { return (type, bytes) }
            let left = Int(reply.pointee.bytes_after)
            withExtendedLifetime(reply) {
                let length = Int(xcb_get_property_value_length(reply.pointer))
                bytes += UnsafeRawBufferPointer(start: xcb_get_property_value(reply.pointer), count: length)
            }
            type = reply.pointee.type
            guard count + bytes.count + left <= kind.maximumByteCount else {
                xcb_delete_property(connection.handle, window, atoms.property)
                throw .tooLarge(kind)
            }
            if left == 0 { return (type, bytes) }
        }
    }
}
