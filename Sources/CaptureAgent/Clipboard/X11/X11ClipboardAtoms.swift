import CXCB
import Wire

/// The names that a clipboard needs, as the X server's numbers.
struct X11ClipboardAtoms {
    let clipboard: xcb_atom_t
    let targets: xcb_atom_t
    let timestamp: xcb_atom_t
    /// The type INCR of a property whose content comes in parts.
    let incremental: xcb_atom_t
    /// Our properties: the one that receives contents, and the one whose changes tell the time.
    let property: xcb_atom_t
    let time: xcb_atom_t
    private let types: [ClipboardContent.Kind: [xcb_atom_t]]

    init(_ connection: X11Connection) throws(SourceError) {
        func atom(_ name: String) throws(SourceError) -> xcb_atom_t {
            let request = xcb_intern_atom(connection.handle, 0, UInt16(name.utf8.count), name)
            let answer: X11Answer<xcb_intern_atom_reply_t>? = try connection.answer(to: request.sequence, stop: nil)
            guard let answer else {
                throw .refused(cause: "display_refused", detail: "The X server refuses the name \(name).")
            }
            return answer.pointee.atom
        }
        clipboard = try atom("CLIPBOARD")
        targets = try atom("TARGETS")
        timestamp = try atom("TIMESTAMP")
        incremental = try atom("INCR")
        property = try atom("HELIOGRAPH_CLIPBOARD")
        time = try atom("HELIOGRAPH_TIME")
        var types: [ClipboardContent.Kind: [xcb_atom_t]] = [:]
        for kind in ClipboardContent.Kind.allCases {
            for name in kind.types { types[kind, default: []].append(try atom(name)) }
        }
        self.types = types
    }

    /// Returns the types under which contents of a kind are exchanged, the best first.
    func types(of kind: ClipboardContent.Kind) -> [xcb_atom_t] { types[kind] ?? [] }

    /// Returns the atoms in a property's bytes.
    static func list(_ bytes: [UInt8]) -> [xcb_atom_t] {
        bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 3, by: 4).map {
                bytes.loadUnaligned(fromByteOffset: $0, as: xcb_atom_t.self)
            }
        }
    }
}
