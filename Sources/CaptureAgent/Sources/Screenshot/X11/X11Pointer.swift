import CXCB
import Media

/// The X server's pointer, which its pictures do not contain. Used in one thread.
struct X11Pointer {
    private let connection: X11Connection
    private var question: UInt32?
    /// The last image and the server's serial number for it.
    private var image: (serial: UInt32, image: PointerImage)?

    /// - Returns: `nil` if the server does not report its pointer.
    init?(_ connection: X11Connection) throws(SourceError) {
        guard try connection.has("XFIXES") else { return nil }
        // The server answers nothing else before it knows the client's version.
        let request = xcb_xfixes_query_version(connection.handle, 4, 0)
        let version: X11Answer<xcb_xfixes_query_version_reply_t>? =
            try connection.answer(to: request.sequence, stop: nil)
        guard version != nil else { return nil }
        self.connection = connection
    }

    /// Asks for the pointer. The answer must be fetched before the next request.
    mutating func ask() {
        question = xcb_xfixes_get_cursor_image(connection.handle).sequence
    }

    /// Returns the pointer on the whole screen, or `nil` if there is none or `stop` is set first.
    mutating func answer(stop: Event) throws(SourceError) -> Pointer? {
        guard let question else { return nil }
        self.question = nil
        let answer: X11Answer<xcb_xfixes_get_cursor_image_reply_t>? = try connection.answer(to: question, stop: stop)
        guard let answer, answer.pointee.width > 0, answer.pointee.height > 0 else { return nil }
        let cursor = answer.pointee
        let known = image.flatMap { $0.serial == cursor.cursor_serial ? $0.image : nil }
        let current = known ?? Self.image(of: answer)
        image = (cursor.cursor_serial, current)
        return Pointer(image: current, x: Int(cursor.x) - Int(cursor.xhot), y: Int(cursor.y) - Int(cursor.yhot))
    }

    /// Converts words that hold alpha, red, green and blue from the highest byte; the colours are already multiplied by
    /// alpha.
    private static func image(of answer: X11Answer<xcb_xfixes_get_cursor_image_reply_t>) -> PointerImage {
        withExtendedLifetime(answer) {
            let size = PictureSize(width: Int(answer.pointee.width), height: Int(answer.pointee.height))
            let words = UnsafeBufferPointer(
                start: xcb_xfixes_get_cursor_image_cursor_image(answer.pointer),
                count: size.width * size.height
            )
            let rgba = words.flatMap { word in
                [16, 8, 0, 24].map { UInt8(truncatingIfNeeded: word >> $0) }
            }
            return PointerImage(size: size, rgba: rgba)
        }
    }
}

extension Pointer {
    /// Returns the same pointer relative to a part of the screen.
    func moved(by area: X11Area) -> Pointer {
        Pointer(image: image, x: x - area.x, y: y - area.y)
    }
}
