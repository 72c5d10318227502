/// One event of a pointer, a keyboard or a finger, which a program sends by ``LiveSession/send(_:)``.
///
/// To click, type or swipe as a whole, call ``Screen``'s functions instead.
public enum Input: Sendable, Hashable {
    /// Moves the pointer.
    case move(Place)
    /// Moves the pointer by a distance, in pixels.
    case motion(dx: Double, dy: Double)
    /// Presses or releases a button, at a place or where the pointer is.
    case button(Button, isDown: Bool, at: Place? = nil)
    /// Turns the wheel at a place or where the pointer is, in pixels: right and down are positive.
    case scroll(dx: Double, dy: Double, at: Place? = nil)
    /// Moves one to ten contacts on the screen.
    ///
    /// - geometry: As in ``Place``.
    case touch([Contact], geometry: UInt32 = 0)
    /// Presses or releases a key, by its X keysym. The desktop repeats keys that are held.
    case key(keysym: UInt32, isDown: Bool)
    /// Types a text.
    case text(String)
    /// Releases what this program holds.
    case releaseAll

    /// A place in a picture.
    public struct Place: Sendable, Hashable {
        /// Pixels of the encoded picture: the centre of the first one is 0.5.
        public var x: Double
        public var y: Double
        /// The ``PictureFormat/geometry`` of the picture in which the program saw the place. If the screen has changed
        /// since, the event is refused instead of going astray. 0 is for places in the screen as it is now, which only
        /// moves and touches can have.
        public var geometry: UInt32

        public init(x: Double, y: Double, geometry: UInt32) { (self.x, self.y, self.geometry) = (x, y, geometry) }
    }

    public enum Button: UInt8, Sendable, CaseIterable {
        case left, middle, right, back, forward
    }

    /// A finger on the screen.
    public struct Contact: Sendable, Hashable {
        public enum Phase: UInt8, Sendable {
            case down = 1
            case move, up, cancel
        }

        /// 0 to 9.
        public var id: UInt8
        public var phase: Phase
        /// As in ``Place``.
        public var x: Double
        public var y: Double

        public init(id: UInt8, phase: Phase, x: Double, y: Double) {
            (self.id, self.phase, self.x, self.y) = (id, phase, x, y)
        }
    }
}

extension Input {
    private enum Kind: UInt8 {
        case control = 1
        case beat, move, motion, button, scroll, touch, key, text, release
    }

    /// The longest text of a message, bytes.
    private static let longestText = 4092
    /// The most contacts of a message.
    private static let mostContacts = 10

    /// The message that asks for control of the device, or takes it.
    package static func claim(takes: Bool) -> [UInt8] { [Kind.control.rawValue, takes ? 2 : 1, 0, 0] }

    /// The message that gives control back.
    package static let leaving = [Kind.control.rawValue, 0, 0, 0]

    /// The message by which a controller says that it is there.
    package static let beat = [Kind.beat.rawValue, 0, 0, 0]

    /// Why the input cannot be sent; `nil` if it can.
    package var fault: String? {
        switch self {
        case .button(_, _, let place?) where place.geometry == 0, .scroll(_, _, let place?) where place.geometry == 0:
            return "a button and a wheel need the geometry of a picture for their place"
        case .touch(let contacts, _):
            let ids = Set(contacts.map(\.id))
            let isValid = (1...Self.mostContacts).contains(contacts.count) && ids.count == contacts.count
            return isValid && ids.allSatisfy { $0 < Self.mostContacts }
                ? nil : "a touch has 1 to \(Self.mostContacts) contacts with different ids from 0 to 9"
        case .key(0, _): return "there is no key with the keysym 0"
        default: return nil
        }
    }

    /// The messages on the WebSocket; docs/reference/websocket.md. There are several for a long text.
    package var messages: [[UInt8]] {
        switch self {
        case .move(let place): [Self.head(.move) + Self.bytes(of: place)]
        case .motion(let dx, let dy): [Self.head(.motion) + Self.fixed(dx) + Self.fixed(dy)]
        case .button(let button, let isDown, let place):
            [Self.head(.button, button.rawValue, isDown ? 1 : 0) + Self.bytes(of: place)]
        case .scroll(let dx, let dy, let place):
            [Self.head(.scroll) + Self.bytes(of: place) + Self.fixed(dx) + Self.fixed(dy)]
        case .touch(let contacts, let geometry):
            [
                Self.head(.touch, UInt8(clamping: contacts.count)) + geometry.bytes
                    + contacts.flatMap { [$0.id, $0.phase.rawValue, 0, 0] + Self.fixed($0.x) + Self.fixed($0.y) }
            ]
        case .key(let keysym, let isDown): [Self.head(.key, isDown ? 1 : 0) + keysym.bytes]
        case .text(let text): Self.pieces(of: text).map { Self.head(.text) + $0 }
        case .releaseAll: [Self.head(.release)]
        }
    }

    private static func head(_ kind: Kind, _ first: UInt8 = 0, _ second: UInt8 = 0) -> [UInt8] {
        [kind.rawValue, first, second, 0]
    }

    private static func bytes(of place: Place?) -> [UInt8] {
        guard let place else { return [UInt8](repeating: 0, count: 12) }
        return place.geometry.bytes + fixed(place.x) + fixed(place.y)
    }

    /// Returns a fixed-point number of 32 bits, with 16 after the point.
    private static func fixed(_ value: Double) -> [UInt8] {
        let scaled = (value * 65536).rounded()
        let whole = scaled.isNaN ? 0 : Int32(max(-2_147_483_648, min(2_147_483_647, scaled)))
        return UInt32(bitPattern: whole).bytes
    }

    /// Returns a text's bytes in pieces that each fit a message, cut between characters.
    private static func pieces(of text: String) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        for scalar in text.unicodeScalars {
            let bytes = Array(scalar.utf8)
            if let last = pieces.last, last.count + bytes.count <= longestText {
                pieces[pieces.count - 1] += bytes
            } else {
                pieces.append(bytes)
            }
        }
        return pieces
    }
}

extension UInt32 {
    /// In network byte order.
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }
}
