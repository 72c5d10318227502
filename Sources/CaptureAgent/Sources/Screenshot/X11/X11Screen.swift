import CXCB
import Glibc
import Media

/// A part of the X server's screen.
struct X11Area {
    var x: Int
    var y: Int
    var size: PictureSize
}

/// The captured area of the X server's screen: a monitor, or everything.
struct X11Screen {
    /// The sides that encoders accept, in pixels.
    private static let sides = 2...8192

    private let connection: X11Connection
    /// The server's number for the monitor's name; `nil` for the whole screen.
    private let monitor: xcb_atom_t?

    init(_ connection: X11Connection, output: String?) throws(SourceError) {
        self.connection = connection
        guard let output else {
            monitor = nil
            return
        }
        guard try connection.has("RANDR") else {
            throw .unavailable(cause: "output_unknown", detail: "The X server does not tell its monitors (RANDR).")
        }
        let request = xcb_intern_atom(connection.handle, 1, UInt16(truncatingIfNeeded: output.utf8.count), output)
        let atom: X11Answer<xcb_intern_atom_reply_t>? = try connection.answer(to: request.sequence, stop: nil)
        let name = atom?.pointee.atom ?? 0
        monitor = name
        let monitors = try Self.monitors(of: connection, stop: nil)
        guard monitors.contains(where: { $0.name == name }) else {
            var names: [String] = []
            for monitor in monitors { names.append(try Self.name(monitor.name, connection)) }
            throw .unavailable(
                cause: "output_unknown",
                detail: "The X server has no monitor \(output); it has: \(names.joined(separator: ", "))."
            )
        }
    }

    /// Returns its current area, or `nil` if the server does not report it or `stop` is set first.
    func area(stop: Event?) throws(SourceError) -> X11Area? {
        let area: X11Area
        if let monitor {
            guard let found = try Self.monitors(of: connection, stop: stop).first(where: { $0.name == monitor }) else {
                if stop?.isSet == true { return nil }
                throw .lost(cause: "output_gone", detail: "The monitor that is captured was removed.")
            }
            let size = PictureSize(width: Int(found.width), height: Int(found.height))
            area = X11Area(x: Int(found.x), y: Int(found.y), size: size)
        } else {
            let request = xcb_get_geometry(connection.handle, connection.root)
            let geometry: X11Answer<xcb_get_geometry_reply_t>? =
                try connection.answer(to: request.sequence, stop: stop)
            guard let geometry = geometry?.pointee else { return nil }
            area = X11Area(
                x: 0,
                y: 0,
                size: PictureSize(width: Int(geometry.width), height: Int(geometry.height))
            )
        }
        guard Self.sides.contains(area.size.width), Self.sides.contains(area.size.height) else {
            throw .unavailable(
                cause: "format_refused",
                detail: "The X server's screen is \(area.size); sides of 2 to 8192 can be captured. Name one monitor."
            )
        }
        return area
    }

    private static func monitors(
        of connection: X11Connection,
        stop: Event?
    ) throws(SourceError) -> [xcb_randr_monitor_info_t] {
        let request = xcb_randr_get_monitors(connection.handle, connection.root, 1)
        let answer: X11Answer<xcb_randr_get_monitors_reply_t>? =
            try connection.answer(to: request.sequence, stop: stop)
        guard let answer else { return [] }
        return withExtendedLifetime(answer) {
            var monitors: [xcb_randr_monitor_info_t] = []
            var iterator = xcb_randr_get_monitors_monitors_iterator(answer.pointer)
            while iterator.rem > 0 {
                monitors.append(iterator.data.pointee)
                xcb_randr_monitor_info_next(&iterator)
            }
            return monitors
        }
    }

    private static func name(_ atom: xcb_atom_t, _ connection: X11Connection) throws(SourceError) -> String {
        let request = xcb_get_atom_name(connection.handle, atom)
        let answer: X11Answer<xcb_get_atom_name_reply_t>? = try connection.answer(to: request.sequence, stop: nil)
        guard let answer else { return "?" }
        return withExtendedLifetime(answer) {
            let bytes = UnsafeRawBufferPointer(
                start: xcb_get_atom_name_name(answer.pointer),
                count: Int(xcb_get_atom_name_name_length(answer.pointer))
            )
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
