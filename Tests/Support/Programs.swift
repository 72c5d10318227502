package import Foundation

/// The checkout, and the programs that this test run was built with.
package enum Programs {
    package static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The folder of the built products, which also contains the running test bundle.
    package static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    package static func script(_ name: String) -> URL {
        repository.appendingPathComponent("Scripts").appendingPathComponent(name)
    }

    package static let desktop = repository.appendingPathComponent("Tests/Desktop/desktop")

    package static func product(_ name: String) -> URL {
        products.appendingPathComponent(name)
    }

    /// Starts `process` with no blocked signals. The threads of tests block them all, and a child would inherit that.
    package static func start(_ process: Process) throws {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
    }

    /// The result of a program that ran to its end.
    package struct Outcome {
        package var status: Int32
        package var output: String
        package var errors: String
    }

    /// Runs a program to its end.
    package static func run(
        _ program: URL,
        _ arguments: [String],
        environment: [String: String] = [:],
        directory: URL? = nil
    ) throws -> Outcome {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.currentDirectoryURL = directory
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try start(process)
        let messages = Collector(errors.fileHandleForReading)
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus,
            output: String(decoding: text, as: UTF8.self),
            errors: String(decoding: messages.wait(), as: UTF8.self)
        )
    }
}

/// Reads a handle to its end in a thread of its own, so that a full pipe does not block its writer.
package final class Collector: @unchecked Sendable {
    // Unchecked because `data` is read only after the semaphore, which the writing thread signals last.
    private var data = Data()
    private let done = DispatchSemaphore(value: 0)

    package init(_ handle: FileHandle) {
        let thread = Thread { [self] in
            data = handle.readDataToEndOfFile()
            done.signal()
        }
        thread.start()
    }

    /// Returns what was read, once the handle is at its end. Must be called once.
    package func wait() -> Data {
        done.wait()
        return data
    }
}
