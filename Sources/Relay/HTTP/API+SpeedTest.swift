import HTTPTypes
import HeliographAPI
import Hummingbird
import NIOCore
import Synchronization

extension API {
    /// The most bytes of a speed test. A fast connection needs no more.
    private static let mostBytes = 256 << 20
    /// How much longer than its time a test may take.
    private static let patience = TimeAmount.seconds(10)
    /// What is sent again and again: random, because what is on the way may compress.
    private static let filler = ByteBuffer(bytes: (0..<(64 << 10)).map { _ in UInt8.random(in: 0...255) })

    func addSpeedTestRoute(to routes: inout RouteTable) {
        routes.respond(to: Routes.testSpeed) { query, request, context in
            let headers: HTTPFields = [
                .contentType: "application/octet-stream", .cacheControl: "no-store", .connection: "close",
            ]
            // Nobody reads the body.
            if request.method == .head { return Response(status: .ok, headers: headers) }
            guard let place = speedTests.take() else {
                throw Problem(.speedTestRunning, "another speed test runs: try again in a few seconds")
            }
            return Response(
                status: .ok,
                headers: headers,
                body: Self.filler(for: query.for, on: context.channel, in: place)
            )
        }
    }

    /// - Parameter place: Given back at the end, also if the body is never asked for.
    private static func filler(
        for seconds: Double,
        on channel: any Channel,
        in place: SpeedTests.Place
    ) -> ResponseBody {
        ResponseBody { writer in
            let loop = channel.eventLoop
            let end = ContinuousClock.now + .seconds(seconds)
            // A caller that reads nothing would keep the place.
            let limit = loop.scheduleTask(in: .seconds(Int64(seconds)) + patience) { channel.close(promise: nil) }
            defer { limit.cancel() }
            var left = mostBytes
            while left > 0, ContinuousClock.now < end {
                try await writer.write(filler)
                left -= filler.readableBytes
                // A writer learns on the connection's thread that the connection takes no more. Faster than that, it
                // would fill the memory.
                try await loop.submit {}.get()
            }
            // Before the caller knows that the test has ended, because it may begin another one.
            place.leave()
            try await writer.finish(nil)
        }
    }
}

/// The speed tests of a relay: one at a time, because two would measure each other.
final class SpeedTests: Sendable {
    private let isRunning = Atomic(false)

    /// The right to run a test, until it is left or nothing refers to it any more.
    final class Place: Sendable {
        private let tests: SpeedTests
        private let isTaken = Atomic(true)

        fileprivate init(_ tests: SpeedTests) { self.tests = tests }

        deinit { leave() }

        func leave() {
            guard isTaken.exchange(false, ordering: .relaxed) else { return }
            tests.isRunning.store(false, ordering: .relaxed)
        }
    }

    /// Returns the place; `nil` if another test has it.
    func take() -> Place? { isRunning.exchange(true, ordering: .relaxed) ? nil : Place(self) }
}
