import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A web page that hangs", .enabled(if: Chromium.isInstalled, "chromium is installed by Scripts/packages desktop"))
struct PageClosureTests {
    @Test("is closed by the relay, comes back, and says why it was gone")
    func closed() async throws {
        try await RunningRelay.run {
            $0.viewerQueueLimits = .init(bytes: 64 << 10, pictures: 1000)
            $0.viewerTimeout = .milliseconds(500)
            // The data that waits for it comes before the Close.
            $0.webSocket.closeTimeout = .seconds(60)
        } _: { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send(try Self.beginning(), session: session.id)
            let browser = try Chromium()
            defer { browser.end() }
            try browser.open(relay.url("/#/session/\(session.id)"))
            try await relay.waitForViewers(1, of: session.id)
            let closure =
                "[...document.querySelectorAll('.player p[role=status]')].find((line) => line.textContent.includes('The relay closed'))"
            #expect(try browser.evaluate("\(closure) === undefined") as? Bool == true)
            let hang = ContinuousClock.now + .seconds(10)
            _ = try browser.evaluate(
                "{ setTimeout(() => { const end = Date.now() + 10000; while (Date.now() < end) {} }, 0) }"
            )
            var number = 3
            _ = try await eventually("a viewer that is closed") {
                for _ in 0..<50 {
                    try await link.send(
                        [SampleStream.accessUnit(number, key: number % 20 == 0, size: 16 << 10)],
                        session: session.id
                    )
                    number += 1
                }
                let closed = try await relay.session(session.id)["counters"]?["relay"]?["viewersClosed"]
                return closed?["stalled"] == 1 || closed?["slow"] == 1 ? true : nil
            }
            // No thread waits for a page that hangs.
            try await Task.sleep(until: hang)
            try browser.wait(until: "\(closure)?.hidden === false")
            let text = try browser.evaluate("\(closure).textContent") as? String
            #expect(text?.contains(/read no pictures|too slow/) == true, "\(text ?? "")")
            try await relay.waitForViewers(1, of: session.id)
        }
    }

    private static func beginning() throws -> [AccessUnit] {
        var stream = StaticStream()
        return try stream.beginning()
    }
}
