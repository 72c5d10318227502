import NIOCore
import Subprocess

extension PlatformOptions {
    /// Returns the options of a program in a group of its own. When the task is cancelled, the group gets SIGTERM, and
    /// what has not ended after `grace` is killed.
    ///
    /// The group keeps a terminal's Ctrl-C from the program, so that the relay can stop it cleanly. It also lets the
    /// relay end the program's children.
    static func ownGroup(grace: TimeAmount) -> PlatformOptions {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [
            .send(
                signal: .terminate,
                toProcessGroup: true,
                allowedDurationToNextStep: .nanoseconds(grace.nanoseconds)
            )
        ]
        return options
    }
}

extension SubprocessOutputSequence {
    /// Calls `body` with each line until the output ends, and returns the last one; `nil` if there is none.
    ///
    /// - Parameter limit: Most bytes kept of a line.
    func forEachLine(limit: Int, _ body: (String) -> Void) async -> String? {
        var assembler = LineAssembler(limit: limit)
        var last: String?
        func pass(_ line: String) {
            last = line
            body(line)
        }
        // Reading fails while the program is being ended; only its exit status matters then.
        var buffers = makeAsyncIterator()
        while let buffer = try? await buffers.next() {
            for line in buffer.withUnsafeBytes({ assembler.append($0) }) { pass(line) }
        }
        if let line = assembler.finish() { pass(line) }
        return last
    }
}
