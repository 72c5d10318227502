import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// A short version of Scripts/soak.
    @Suite("Sessions and viewers that come and go")
    struct ResourceTests {
        @Test("leak no descriptor, thread or process, and do not affect the viewer who stays")
        func churn() async throws {
            let desktop = try Desktop(.none)
            defer { desktop.end() }
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let source: RelayProcess.Object = ["kind": "test-pattern", "width": 320, "height": 240]
            try await relay.post("/screencapture/broadcast/start", ["source": source])
            let arguments: RelayProcess.Object = ["framing": "scrcpy", "width": 160, "height": 120]
            let session = try await relay.startSession(arguments)
            let viewer = try SystemTests.viewer(of: session)
            try await SystemTests.waitForPictures(20, at: viewer)
            let agent = try #require(desktop.processes(running: "capture-agent").first)
            func comeAndGo(_ count: Int) async throws {
                for _ in 0..<count {
                    let other = try await relay.startSession(arguments)
                    let watcher = try SystemTests.viewer(of: other)
                    try await SystemTests.waitForPictures(2, at: watcher)
                    try await relay.post("/screencapture/\(other.integer("id"))/stop")
                    // The relay counts the connection until its end has been read.
                    _ = try await eventually("the end of its stream") { watcher.current.isClosed ? true : nil }
                }
            }
            // Warms up what is kept from the first use on.
            try await comeAndGo(3)
            let before = try (relay: Footprint(of: relay.pid), agent: Footprint(of: agent))
            try await comeAndGo(Effort.choose(20, whole: 1_000))
            _ = try await eventually("the descriptors and threads of the beginning") { () -> Bool? in
                let now = try (relay: Footprint(of: relay.pid), agent: Footprint(of: agent))
                return now.relay.descriptors <= before.relay.descriptors && now.relay.threads <= before.relay.threads
                    && now.agent.descriptors <= before.agent.descriptors && now.agent.threads <= before.agent.threads
                    ? true : nil
            }
            #expect(desktop.processes(running: "capture-agent") == [agent])
            #expect(try await relay.get("/screencapture/1").integer("switches") == 0)
            try await SystemTests.waitForPictures(5, at: viewer)
            let current = viewer.current
            #expect(!current.isClosed)
            #expect(zip(current.pictures, current.pictures.dropFirst()).allSatisfy { $0.pts < $1.pts })
        }
    }
}
