package import HeliographAPI
import Media
package import Wire

/// A binary message from a viewer: input for the screen, or about the right to give it; see
/// docs/reference/websocket.md.
package enum ViewerInput: Sendable, Equatable {
    /// A place in the picture that the viewer saw.
    package struct Place: Sendable, Equatable {
        /// What the place means; 0 for none.
        package var geometry: UInt32
        package var x: Double
        package var y: Double

        package init(geometry: UInt32, x: Double, y: Double) {
            (self.geometry, self.x, self.y) = (geometry, x, y)
        }
    }

    package struct Contact: Sendable, Equatable {
        package var id: UInt8
        package var phase: InputStep.TouchPhase
        package var x: Double
        package var y: Double

        package init(id: UInt8, phase: InputStep.TouchPhase, x: Double, y: Double) {
            (self.id, self.phase, self.x, self.y) = (id, phase, x, y)
        }
    }

    /// The viewer asks for control.
    case claim(takes: Bool)
    /// The viewer gives control up.
    case leave
    /// The viewer is there.
    case beat
    case move(Place)
    case motion(dx: Double, dy: Double)
    /// - code: The Linux code.
    /// - at: `nil` for where the pointer is.
    case button(UInt16, isDown: Bool, at: Place?)
    /// - at: `nil` for where the pointer is.
    case scroll(dx: Double, dy: Double, at: Place?)
    case touch([Contact], geometry: UInt32)
    case key(keysym: UInt32, isDown: Bool)
    case text(String)
    case release
    case gamepad(GamepadMessage)
    /// An Opus packet for the device's microphone; empty when the speaker ends.
    case speech([UInt8])
    /// A kind from a later release.
    case unknown(UInt8)

    package struct Malformed: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    private enum Kind: UInt8 {
        case control = 1
        case beat, move, motion, button, scroll, touch, key, text, release
    }

    /// The most contacts on a screen. Their ids are below it.
    package static let maximumContacts: UInt8 = 10
    /// The longest text, in bytes: with its head it fills a message.
    package static let longestText = 4092
    /// BTN_LEFT, BTN_MIDDLE, BTN_RIGHT, BTN_SIDE and BTN_EXTRA, in the order of the browsers' numbers.
    private static let buttons: [UInt16] = [0x110, 0x112, 0x111, 0x113, 0x114]

    package init(parsing bytes: [UInt8]) throws(Malformed) {
        let message = bytes.read { (reader: ByteReader) -> ViewerInput? in
            var rest = reader
            return Self.message(&rest)
        }
        guard let message else {
            throw Malformed(description: "a message of kind \(bytes.first ?? 0) does not have its fields")
        }
        self = message
    }

    private static func message(_ rest: inout ByteReader) -> ViewerInput? {
        let whole = rest
        guard let byte = rest.u8() else { return nil }
        if byte == SpeechMessage.kind { return speech(&rest) }
        if GamepadMessage.isOne(byte) { return GamepadMessage(whole).map { .gamepad($0) } }
        guard let kind = Kind(rawValue: byte) else { return .unknown(byte) }
        // The three bytes after the kind.
        guard let first = rest.u8(), let second = rest.u8(), rest.u8() != nil else { return nil }
        let message: ViewerInput?
        switch kind {
        case .control: message = first == 0 ? .leave : first <= 2 ? .claim(takes: first == 2) : nil
        case .beat: message = .beat
        case .move: message = place(&rest).map { .move($0) }
        case .motion: message = pair(&rest).map { .motion(dx: $0, dy: $1) }
        case .button:
            guard let code = buttons[at: Int(clamping: first)], let isDown = flag(second), let place = place(&rest)
            else { return nil }
            message = .button(code, isDown: isDown, at: place.geometry == 0 ? nil : place)
        case .scroll:
            guard let place = place(&rest), let (dx, dy) = pair(&rest) else { return nil }
            message = .scroll(dx: dx, dy: dy, at: place.geometry == 0 ? nil : place)
        case .touch: message = touch(&rest, count: first)
        case .key:
            guard let isDown = flag(first), let keysym = rest.u32(), keysym != 0 else { return nil }
            message = .key(keysym: keysym, isDown: isDown)
        case .text:
            guard rest.count > 0, rest.count <= longestText, let bytes = rest.take(rest.count) else { return nil }
            message = String(validating: bytes.bytes, as: UTF8.self).map { .text($0) }
        case .release: message = .release
        }
        return rest.count == 0 ? message : nil
    }

    private static func speech(_ rest: inout ByteReader) -> ViewerInput? {
        guard rest.skip(3), rest.count <= SpeechReport.longestPacket else { return nil }
        guard rest.count > 0 else { return .speech([]) }
        return OpusPacket(rest).map { _ in .speech(rest.bytes) }
    }

    private static func touch(_ rest: inout ByteReader, count: UInt8) -> ViewerInput? {
        guard count > 0, count <= maximumContacts, let geometry = rest.u32() else { return nil }
        var contacts: [Contact] = []
        while contacts.count < count {
            guard let id = rest.u8(), let phase = rest.u8().flatMap(InputStep.TouchPhase.init), rest.u16() != nil,
                let (x, y) = pair(&rest), id < maximumContacts, !contacts.contains(where: { $0.id == id })
            else { return nil }
            contacts.append(Contact(id: id, phase: phase, x: x, y: y))
        }
        return .touch(contacts, geometry: geometry)
    }

    private static func place(_ rest: inout ByteReader) -> Place? {
        guard let geometry = rest.u32(), let (x, y) = pair(&rest) else { return nil }
        return Place(geometry: geometry, x: x, y: y)
    }

    private static func pair(_ rest: inout ByteReader) -> (Double, Double)? {
        guard let x = rest.u32(), let y = rest.u32() else { return nil }
        return (fixed(x), fixed(y))
    }

    /// Returns the value of a fixed-point number with 16 bits after the point.
    private static func fixed(_ bits: UInt32) -> Double { Double(Int32(bitPattern: bits)) / 65536 }

    private static func flag(_ byte: UInt8) -> Bool? { byte > 1 ? nil : byte == 1 }
}
