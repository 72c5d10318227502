package import NIOCore

/// How long each stage of a broadcast's start took. A skipped stage is `nil`.
package struct StartTimings: Sendable, Equatable {
    /// From the call until the process runs.
    package var spawn: TimeAmount?
    /// From there until HELLO.
    package var hello: TimeAmount?
    /// From there until the source streams.
    package var source: TimeAmount?
    package var total: TimeAmount
    /// The agent's own stages, ms.
    package var agent: [String: Double]

    package init(
        spawn: TimeAmount?,
        hello: TimeAmount?,
        source: TimeAmount?,
        total: TimeAmount,
        agent: [String: Double]
    ) {
        self.spawn = spawn
        self.hello = hello
        self.source = source
        self.total = total
        self.agent = agent
    }

    /// Collects the instants while a start is under way.
    struct Recorder: Sendable {
        var start: NIODeadline
        var process: NIODeadline?
        var hello: NIODeadline?
        var agent: [String: Double] = [:]

        init(start: NIODeadline) { self.start = start }

        func finished(now: NIODeadline) -> StartTimings {
            StartTimings(
                spawn: process.map { $0 - start },
                hello: hello.map { $0 - (process ?? start) },
                source: hello.map { now - $0 },
                total: now - start,
                agent: agent
            )
        }
    }
}
