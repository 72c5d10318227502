import ArgumentParser
import HeliographAPI
import Wire

/// A broadcast's source on the command line: a kind and, if the kind has several, which one.
///
///     auto    mutter:DP-1    node:camera
enum SourceArgument {
    /// The kinds, each with what may follow its colon.
    private static let kinds = SourceKind.allCases.map { kind in
        switch kind {
        case .node: "node:NAME"
        case .mutter, .screenshot: "\(kind.rawValue)[:MONITOR]"
        case .auto, .portal, .testPattern: kind.rawValue
        }
    }

    static let allowed = kinds.joined(separator: ", ")
    static let completion = CompletionKind.list(
        SourceKind.allCases.map { $0 == .node ? "node:" : $0.rawValue }
    )

    /// Parses an argument.
    ///
    /// - Throws: The error text for the user.
    static func request(_ argument: String) throws -> SourceRequest {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let kind = SourceKind(rawValue: parts[0]) else {
            let question = NearestWord.question(for: parts[0], among: SourceKind.allCases.map(\.rawValue))
            throw ValidationError("Unknown source '\(argument)'.\(question) Allowed: \(allowed).")
        }
        let name = parts.dropFirst().first
        if name == "" { throw ValidationError("'\(argument)' has no name after the colon.") }
        var request = SourceRequest(kind: kind)
        switch kind {
        case .node:
            guard let name else {
                throw ValidationError("'node' needs the node's name, serial or id: node:NAME.")
            }
            request.node = name
        case .mutter, .screenshot:
            request.output = name
        case .auto, .portal, .testPattern:
            guard name == nil else { throw ValidationError("'\(kind.rawValue)' takes no name, as in '\(argument)'.") }
        }
        return request
    }
}
