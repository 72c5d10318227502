import Access
import Foundation
import HeliographAPI
import Relay
import RelayTestSupport
import TestSupport

/// A key file in a separate folder, and the keys that were created in it.
final class Keys: Sendable {
    private let folder: URL
    let file: KeyFile

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("heliograph-keys-\(UUID().uuidString)")
        file = KeyFile(path: folder.appendingPathComponent("keys.json").path)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func make(
        _ name: String,
        _ role: Role,
        devices: Set<String>? = nil,
        library: Set<LibraryRight>? = nil
    ) throws -> APIKey {
        try file.change { ring throws(KeyFileError) in
            try ring.make(name, KeyRing.Terms(role, devices: devices, library: library), at: Date())
        }
    }

    func revoke(_ name: String) throws {
        try file.change { ring throws(KeyFileError) in try ring.revoke(name) }
    }
}

extension RunningRelay {
    /// Runs a relay with those keys while `body` runs.
    static func run(
        keys: Keys,
        log: LogRecorder? = nil,
        _ body: @escaping @Sendable (RunningRelay) async throws -> Void
    ) async throws {
        try await run(log: log, { $0.keysFile = keys.file.path }, body)
    }
}
