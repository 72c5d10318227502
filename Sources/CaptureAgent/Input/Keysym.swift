import CXKBCommon
import Program

/// X keysyms (X11 keysymdef.h): the codes of keys and characters.
package enum Keysym {
    package static let tab: UInt32 = 0xFF09
    package static let returnKey: UInt32 = 0xFF0D

    /// Added to the code point of a character that is not in Latin-1.
    private static let unicode: UInt32 = 0x0100_0000
    private static let largest: UInt32 = 0x1FFF_FFFF
    /// Function keys, modifiers and dead keys, some of which have control characters.
    private static let functions: ClosedRange<UInt32> = 0xFE00...0xFFFF

    /// Returns the keysym of a character, or `nil` if it is a control character that no key types.
    ///
    /// Line feeds and carriage returns are Return, tabs are Tab.
    package static func of(_ character: Unicode.Scalar) -> UInt32? {
        switch character.value {
        case 0x09: tab
        case 0x0A, 0x0D: returnKey
        default: printed(character)
        }
    }

    /// Returns the one keysym that stands for all keysyms of the same character, or `nil` if no key can have it.
    ///
    /// Latin-1 is itself, other characters are 0x01000000 + code point. Old layouts have others, such as 0x06C1 for
    /// Cyrillic a.
    package static func canonical(_ keysym: UInt32) -> UInt32? {
        guard keysym > 0, keysym <= largest else { return nil }
        if functions.contains(keysym) { return keysym }
        if (unicode...unicode + 0x10_FFFF).contains(keysym) {
            return Unicode.Scalar(keysym - unicode).flatMap(printed)
        }
        // 0 if the keysym has no character.
        return Unicode.Scalar(xkb_keysym_to_utf32(keysym)).flatMap(printed) ?? keysym
    }

    /// Returns the canonical keysym of a key.
    ///
    /// - Throws: `unsupported` if no key can have it.
    package static func ofKey(_ keysym: UInt32) throws(InputFailure) -> UInt32 {
        guard let known = canonical(keysym) else {
            throw .unsupported("No key has the keysym 0x\(String(keysym, radix: 16)).")
        }
        return known
    }

    /// Returns the keysyms that type a text.
    ///
    /// - Throws: `unsupported`, which names the first character that no key types.
    package static func typing(_ text: String) throws(InputFailure) -> [UInt32] {
        var keysyms: [UInt32] = []
        var last: Unicode.Scalar?
        for character in text.unicodeScalars {
            defer { last = character }
            // A carriage return and a line feed are one line break.
            if character == "\n", last == "\r" { continue }
            guard let keysym = of(character) else {
                throw .unsupported("No key types the control character \(codePoint(character)).")
            }
            keysyms.append(keysym)
        }
        return keysyms
    }

    /// Returns a keysym for people: a character with its code point, or a key's name.
    package static func name(_ keysym: UInt32) -> String {
        if !functions.contains(keysym), let character = Unicode.Scalar(xkb_keysym_to_utf32(keysym)),
            character.value > 0x20
        {
            return "'\(character)' (\(codePoint(character)))"
        }
        var name = [CChar](repeating: 0, count: 64)
        guard xkb_keysym_get_name(keysym, &name, name.count) > 0 else {
            return "the key 0x\(String(keysym, radix: 16))"
        }
        return "the key \(String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))"
    }

    /// Returns the keysym of a character that is not a control character.
    private static func printed(_ character: Unicode.Scalar) -> UInt32? {
        switch character.value {
        case 0x20...0x7E, 0xA0...0xFF: character.value
        case 0x100...: unicode | character.value
        default: nil
        }
    }

    private static func codePoint(_ character: Unicode.Scalar) -> String {
        "U+" + String(character.value, radix: 16, uppercase: true).zeroPadded(to: 4)
    }
}
