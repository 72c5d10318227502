/// What a caller may do in the library of recordings. Each right is independent of the others.
package enum LibraryRight: String, Sendable, Codable, CaseIterable {
    /// List recordings, and fetch their files and clips.
    case look
    /// Start and end the recording of a session.
    case record
    /// Delete and restore recordings, pin them, and change their labels.
    case delete

    /// The word for no right at all.
    fileprivate static let nothing = "none"
}

extension Set<LibraryRight> {
    /// The rights with commas between them, or `none`.
    package var text: String { isEmpty ? LibraryRight.nothing : inOrder.map(\.rawValue).joined(separator: ",") }

    /// The rights in the order of their declaration.
    package var inOrder: [LibraryRight] { LibraryRight.allCases.filter(contains) }

    /// Parses rights with commas between them, or `none`.
    ///
    /// - Throws: ``UnknownLibraryRight`` for the first word that is not a right.
    package init(text: String) throws(UnknownLibraryRight) {
        self = []
        guard text != LibraryRight.nothing else { return }
        for word in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let right = LibraryRight(rawValue: String(word)) else {
                throw UnknownLibraryRight(word: String(word))
            }
            insert(right)
        }
    }
}

/// A word that is not a right in the library.
package struct UnknownLibraryRight: Error, Equatable, CustomStringConvertible {
    package let word: String

    package init(word: String) { self.word = word }

    package var description: String {
        let allowed = LibraryRight.allCases.map(\.rawValue).joined(separator: ", ")
        return "Unknown library right '\(word)'. Allowed: \(allowed), with commas between them, or none."
    }
}

extension Role {
    /// The rights in the library of keys that do not have their own.
    package var libraryRights: Set<LibraryRight> {
        switch self {
        case .viewer, .controller: [.look]
        case .operator: [.look, .record, .delete]
        }
    }
}
