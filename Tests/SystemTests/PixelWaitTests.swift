import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Tests of waits that compare pixels, while another part of the screen moves.
    @Suite("Waits for pixels")
    struct PixelWaitTests {
        /// The test card, which is always the same. Above it the counter moves, below it the band.
        private static let card = "0,120,1280,360"
        private static let moving = "0,0,1280,120%3B0,480,1280,240"
        /// How long nothing must happen, s.
        private static let patience = Effort.choose(5.0, whole: 600)

        @Test("take no movement beside their region or in an ignored part for a change, and need no encoder")
        func falseAlarms() async throws {
            try await SystemTests.withBroadcast { _, relay in
                let started = try await relay.startSession(["onDemand": true])
                let session = "/v1/sessions/\(started.integer("id"))"
                async let first = relay.get(
                    "\(session)/wait?until=changed&region=\(Self.card)&timeout=\(Self.patience)"
                )
                let second = try await relay.get(
                    "\(session)/wait?until=static&for=\(Self.patience / 2)&ignore=\(Self.moving)&timeout=\(Self.patience)"
                )
                #expect(try await first.string("outcome") == "timeout", "nothing of the card changes")
                #expect(second.string("outcome") == "happened", "all but the ignored parts is static")
                let moved = try await relay.get("\(session)/wait?until=changed&region=0,480,1280,240")
                #expect(moved.string("outcome") == "happened", "the screen does move")
                let state = try await relay.get(session)
                #expect(state.object("counters").object("agent").integer("encodedLive") == 0, "\(state)")
            }
        }
    }
}
