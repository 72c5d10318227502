import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Random sessions of a real agent and a real relay. docs/design/testing.md says what is done and what is checked.
    @Suite("Random sessions")
    struct RandomSessionTests {
        /// The seed that the environment names, or a fixed few.
        private static let wantedSeed = ProcessInfo.processInfo.environment["HELIOGRAPH_SEED"].flatMap(UInt64.init)
        private static let seeds = wantedSeed.map { [$0] } ?? Array(1...Effort.choose(2, whole: 60))

        @Test(
            "whatever happens, each viewer's stream keeps all rules and decodes alike by two decoders",
            arguments: seeds
        )
        func keepRules(seed: UInt64) async throws {
            let folder = Programs.products.appendingPathComponent("random-sessions/seed-\(seed)")
            try? FileManager.default.removeItem(at: folder)
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            let scene = try await RandomScene(seed: seed, in: desktop)
            var failure: (any Error)?
            do {
                try await scene.start()
                try await scene.live(for: .seconds(Effort.choose(8, whole: 30)))
                try await scene.settle()
            } catch {
                failure = error
            }
            let status = try await scene.end()
            var verdict = RandomVerdict(folder: folder)
            try verdict.judge(scene.viewers, areComplete: scene.dropped == 0)

            #expect(failure == nil, "seed \(seed)")
            #expect(status == 0, "seed \(seed): the relay's exit status")
            #expect(scene.dropped == 0, "seed \(seed): every viewer reads all that it is sent")
            for fault in verdict.faults { Issue.record("seed \(seed), \(fault)") }
            #expect(scene.kills > 0 && verdict.keyframes > 0 && verdict.skips > 0, "seed \(seed)")
            if Effort.isWhole || Self.wantedSeed != nil {
                print(
                    "random sessions, seed \(seed): \(scene.viewers.count) viewers, \(verdict.pictures) pictures, "
                        + "\(verdict.keyframes) keyframes and \(verdict.skips) free repeats that were told, "
                        + "\(scene.kills) kills of the broadcast's agent"
                )
            }
            guard failure != nil || !verdict.faults.isEmpty else { return }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let journal = folder.appendingPathComponent("journal.txt")
            try Data(scene.journal.joined(separator: "\n").utf8).write(to: journal)
            Issue.record("seed \(seed): what happened is in \(journal.path)")
        }
    }
}
