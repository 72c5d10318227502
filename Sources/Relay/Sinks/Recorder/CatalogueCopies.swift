import HeliographAPI
import Library

/// Copies of the library's catalogue, for callers that keep one.
///
/// One is made at a time, because each takes a thread and the disk for up to some seconds. Callers that want the same
/// share it.
actor CatalogueCopies {
    private struct Key: Hashable {
        let mark: String?
        let scope: DeviceScope
    }

    /// How long a copy of everything is given out again: callers get cheaply what changed since.
    private static let keptTime = Duration.seconds(60)
    /// The most copies of everything that are kept. Each takes room on the library's disk.
    private static let mostKept = 4

    /// The most copies that are made or kept. A caller that goes away takes nothing back.
    private static let most = 16

    private var copies: [Key: Task<CopiedCatalogue, any Error>] = [:]
    private var kept = 0
    private var last: Task<Void, Never>?

    /// Returns a copy.
    ///
    /// - Parameters:
    ///   - mark: The mark that the caller has and that the log reaches back to; `nil` for everything.
    ///   - make: Makes it, if there is none yet.
    /// - Throws: ``Problem`` if too many others wait, and what `make` throws.
    func copy(
        since mark: String?,
        scope: DeviceScope,
        make: @escaping @Sendable () async throws -> CopiedCatalogue
    ) async throws -> CopiedCatalogue {
        let key = Key(mark: mark, scope: scope)
        if let copy = copies[key] { return try await copy.value }
        guard copies.count < Self.most else {
            throw Problem(.libraryUnavailable, "\(copies.count) copies of the catalogue are under way: try again soon")
        }
        let copy = Task { [last] in
            await last?.value
            return try await make()
        }
        copies[key] = copy
        last = Task {
            let isMade = (try? await copy.value) != nil
            Task { await forget(key, after: isMade) }
        }
        return try await copy.value
    }

    private func forget(_ key: Key, after isMade: Bool) async {
        if isMade, key.mark == nil, kept < Self.mostKept {
            kept += 1
            try? await Task.sleep(for: Self.keptTime)
            kept -= 1
        }
        copies[key] = nil
    }
}
