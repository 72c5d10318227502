import ArgumentParser
import HeliographAPI
import HeliographClient
import NIOCore

/// Shell completions for devices and sessions: the names that the relay has.
///
/// A user waits for them, so a relay that does not answer soon yields none.
package enum Completions {
    private static let answerTime = Duration.milliseconds(800)
    /// The options that select the relay and the device, if they precede on the line.
    private static let options = ["--relay", "--fingerprint", "--key-file", "--device"]

    package static let devices: @Sendable ([String], Int, String) async -> [String] = { words, _, _ in
        await names(words) { client, _ in
            try await client.report(of: Routes.listBroadcasts, timeout: answerTime).broadcasts.map(\.device)
        }
    }

    /// Completes ids, and names on the line's device.
    package static let sessions: @Sendable ([String], Int, String) async -> [String] = { words, _, _ in
        await names(words) { client, device in
            try await list(client, of: device).flatMap { session in
                // With a device, a session is selected by its name.
                (device == nil ? ["\(session.id)"] : []) + (session.name.map { [$0] } ?? [])
            }
        }
    }

    package static let sessionNames: @Sendable ([String], Int, String) async -> [String] = { words, _, _ in
        await names(words) { client, device in try await list(client, of: device).compactMap(\.name) }
    }

    private static func list(_ client: RelayClient, of device: String?) async throws -> [BriefSession] {
        var query = SessionListQuery()
        (query.device, query.brief) = (device, true)
        return try await client.report(of: Routes.listSessionsInBrief, query, timeout: answerTime).sessions
    }

    /// Returns the names from `list` for the relay and device of a command line; empty on any error.
    private static func names(
        _ words: [String],
        _ list: (RelayClient, String?) async throws -> [String]
    ) async -> [String] {
        guard let options = try? RelayOptions.parse(relayArguments(in: words)) else { return [] }
        var names: [String] = []
        try? await RelayClient.with(options.address, asks: false) { client in
            names = try await list(client, options.device)
        }
        return names
    }

    /// Returns the arguments of a line that ``RelayOptions`` accepts.
    private static func relayArguments(in line: [String]) -> [String] {
        let words = whole(line)
        return words.indices.flatMap { place -> [String] in
            let word = words[place]
            if options.contains(where: { word.hasPrefix("\($0)=") }) { return [unquoted(word)] }
            let value = words.dropFirst(place + 1).first ?? ""
            return options.contains(word) && !value.isEmpty ? [word, unquoted(value)] : []
        }
    }

    /// Joins the words of a line. Bash splits arguments at colons and equals signs.
    private static func whole(_ line: [String]) -> [String] {
        var words: [String] = []
        var isOpen = false
        for piece in line {
            let isBreak = !piece.isEmpty && piece.allSatisfy { $0 == ":" || $0 == "=" }
            if isBreak || isOpen, let last = words.popLast() {
                words.append(last + piece)
            } else {
                words.append(piece)
            }
            isOpen = isBreak
        }
        return words
    }

    /// Returns a word without quotes, which shells pass on.
    private static func unquoted(_ word: String) -> String { word.filter { $0 != "'" && $0 != "\"" } }
}
