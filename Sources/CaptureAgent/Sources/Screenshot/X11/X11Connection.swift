import CXCB
import Glibc
import Media

/// A connection to an X server. Every wait for an answer has a time limit. Used in one thread.
final class X11Connection {
    /// How long the server may take to answer, in ns.
    private static let answerTimeout: UInt64 = .milliseconds(2_000)

    let handle: OpaquePointer
    /// The root window, which covers the whole screen.
    let root: xcb_window_t
    /// The layout of its pixels in memory.
    let format: PixelFormat

    /// Connects to the X server of DISPLAY.
    init() throws(SourceError) {
        var number: Int32 = 0
        // Never `nil`: after a failure, it returns an object in an error state.
        let handle: OpaquePointer! = xcb_connect(nil, &number)
        do throws(SourceError) {
            guard xcb_connection_has_error(handle) == 0, let screen = Self.screen(number, of: handle) else {
                let display = getenv("DISPLAY").map { String(cString: $0) } ?? "which is not set"
                throw .unavailable(
                    cause: "display_unavailable",
                    detail:
                        "There is no connection to the X server of DISPLAY, \(display): start it, or give the device's environment another DISPLAY."
                )
            }
            guard let format = Self.format(of: screen, xcb_get_setup(handle)) else {
                throw .unavailable(
                    cause: "format_refused",
                    detail:
                        "The X server's screen does not have 8 bits a colour in 32 bits a pixel; it has depth \(screen.pointee.root_depth)."
                )
            }
            (self.handle, root, self.format) = (handle, screen.pointee.root, format)
        } catch {
            xcb_disconnect(handle)
            throw error
        }
    }

    /// Ends the connection. Must be called once.
    func close() {
        xcb_disconnect(handle)
    }

    /// A descriptor that is readable when ``processEvents()`` has work.
    var descriptor: Int32 { xcb_get_file_descriptor(handle) }

    /// Discards what the server has sent unasked.
    ///
    /// - Returns: Whether there was anything.
    @discardableResult
    func processEvents() throws(SourceError) -> Bool {
        var hasAny = false
        while let event = xcb_poll_for_event(handle) {
            hasAny = true
            free(event)
        }
        try check()
        return hasAny
    }

    /// Returns whether the server has an extension.
    func has(_ name: String) throws(SourceError) -> Bool {
        let cookie = xcb_query_extension(handle, UInt16(name.utf8.count), name)
        let answer: X11Answer<xcb_query_extension_reply_t>? = try answer(to: cookie.sequence, stop: nil)
        return answer?.pointee.present == 1
    }

    /// Returns the answer to a request, or `nil` if the server refuses it or `stop` is set first.
    func answer<Reply>(to sequence: UInt32, stop: Event?) throws(SourceError) -> X11Answer<Reply>? {
        try check()
        xcb_flush(handle)
        let deadline = MonotonicClock.now + Self.answerTimeout
        let interests = [descriptor, stop?.descriptor].compactMap { $0 }.map { Poll.Interest($0) }
        while true {
            var reply: UnsafeMutableRawPointer?
            var refusal: UnsafeMutablePointer<xcb_generic_error_t>?
            if xcb_poll_for_reply(handle, sequence, &reply, &refusal) != 0 {
                free(refusal)
                try check()
                return reply.map { X11Answer(owning: $0) }
            }
            let now = MonotonicClock.now
            let ready = Poll.wait(for: interests, timeout: deadline > now ? deadline - now : 0)
            if ready.dropFirst().contains(true) {
                xcb_discard_reply(handle, sequence)
                return nil
            }
            if !ready[0], MonotonicClock.now >= deadline {
                throw .timeout(cause: "display_timeout", detail: "The X server does not answer.")
            }
        }
    }

    private func check() throws(SourceError) {
        guard xcb_connection_has_error(handle) != 0 else { return }
        throw .lost(cause: "display_gone", detail: "The connection to the X server broke. It is connected to again.")
    }

    // MARK: - Setup

    private static func screen(_ number: Int32, of handle: OpaquePointer) -> UnsafeMutablePointer<xcb_screen_t>? {
        var screens = xcb_setup_roots_iterator(xcb_get_setup(handle))
        for _ in 0..<max(0, number) where screens.rem > 0 { xcb_screen_next(&screens) }
        return screens.rem > 0 ? screens.data : nil
    }

    /// Little-endian words of 32 bits, with blue or red in the lowest byte.
    private static func format(
        of screen: UnsafeMutablePointer<xcb_screen_t>,
        _ setup: UnsafePointer<xcb_setup_t>
    ) -> PixelFormat? {
        var layouts = xcb_setup_pixmap_formats_iterator(setup)
        while layouts.rem > 0, layouts.data.pointee.depth != screen.pointee.root_depth { xcb_format_next(&layouts) }
        guard setup.pointee.image_byte_order == UInt8(XCB_IMAGE_ORDER_LSB_FIRST.rawValue), layouts.rem > 0,
            layouts.data.pointee.bits_per_pixel == 32
        else { return nil }
        var depths = xcb_screen_allowed_depths_iterator(screen)
        while depths.rem > 0 {
            var visuals = xcb_depth_visuals_iterator(depths.data)
            while visuals.rem > 0 {
                let visual = visuals.data.pointee
                if visual.visual_id == screen.pointee.root_visual {
                    switch (visual.red_mask, visual.green_mask, visual.blue_mask) {
                    case (0xFF0000, 0xFF00, 0xFF): return .bgrx
                    case (0xFF, 0xFF00, 0xFF0000): return .rgbx
                    default: return nil
                    }
                }
                xcb_visualtype_next(&visuals)
            }
            xcb_depth_next(&depths)
        }
        return nil
    }
}

/// An answer of the server.
final class X11Answer<Reply> {
    private let memory: UnsafeMutableRawPointer

    /// - Parameter memory: The answer's memory; this object takes ownership.
    fileprivate init(owning memory: UnsafeMutableRawPointer) { self.memory = memory }

    deinit { free(memory) }

    var pointee: Reply { pointer.pointee }

    /// The answer for functions that find its variable part. Valid while this object lives.
    var pointer: UnsafeMutablePointer<Reply> { memory.assumingMemoryBound(to: Reply.self) }
}
