/// What programs copy and paste, in one of two forms.
package struct ClipboardContent: Sendable, Equatable {
    package enum Kind: UInt8, Sendable, CaseIterable {
        /// UTF-8.
        case text = 1
        /// A PNG file.
        case png

        /// The largest content of this kind, in bytes.
        package var maximumByteCount: Int {
            switch self {
            case .text: 1 << 20
            // What a packet has room for.
            case .png: PacketHeader.maximumLength &- ClipboardOrderBody.fixedByteCount
            }
        }
    }

    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    package var kind: Kind
    package var bytes: [UInt8]

    package init(_ kind: Kind, _ bytes: [UInt8]) {
        (self.kind, self.bytes) = (kind, bytes)
    }

    /// Whether the bytes are too many.
    package var isTooLarge: Bool { bytes.count > kind.maximumByteCount }

    /// Whether the bytes are of the kind: UTF-8, or begin as a PNG file does.
    package var isOfItsKind: Bool {
        switch kind {
        case .text: String(validating: bytes, as: UTF8.self) != nil
        case .png: bytes.starts(with: Self.signature)
        }
    }
}

/// A request about the clipboard of an agent's desktop. The agent answers once with a ``ClipboardReport``.
package struct ClipboardOrder: Sendable, Equatable {
    package enum Request: Sendable, Equatable {
        case get(ClipboardContent.Kind)
        /// Puts content into the clipboard, in place of what it has.
        case set(ClipboardContent)
    }

    /// The id that the answer carries. Used once per link.
    package var id: UInt32
    package var request: Request

    package init(id: UInt32, request: Request) {
        (self.id, self.request) = (id, request)
    }
}

/// The answer to a ``ClipboardOrder``.
package struct ClipboardReport: Sendable, Equatable {
    package enum Refusal: UInt8, Sendable, CaseIterable {
        /// The agent cannot use its desktop's clipboard.
        case noBackend = 1
        /// Too many orders wait.
        case busy
        /// The clipboard has no content of that kind.
        case empty
        /// The content is larger than ``ClipboardContent/Kind/maximumByteCount``.
        case tooLarge
        /// The content is not of the kind that its program says.
        case malformed
        /// The program that has the content did not hand it over in time.
        case timeout
        /// The desktop did not take or give the content.
        case failed
    }

    package enum Outcome: Sendable, Equatable {
        /// The clipboard's content, for a `get`.
        case content(ClipboardContent)
        /// The desktop has the content of a `set`.
        case done
        case refused(Refusal, detail: String)
    }

    package var id: UInt32
    package var outcome: Outcome

    package init(id: UInt32, outcome: Outcome) {
        (self.id, self.outcome) = (id, outcome)
    }
}
