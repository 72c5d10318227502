import CaptureAgent
import Foundation
import TestSupport
import Testing

@Suite("Programs that take screenshots")
struct CommandRunTests {
    /// Runs `sh -c script`. Returns its output, or `nil` if it was stopped.
    private static func run(
        _ script: String,
        seconds: Double = 30,
        limit: Int = CommandRun.largestOutput,
        stop: Event? = nil
    ) throws -> [UInt8]? {
        let output = CommandOutput(limit: limit)
        let command = ScreenshotCommand(words: ["sh", "-c", script], timeout: UInt64(seconds * 1e9))
        return try CommandRun.run(command, into: output, stop: try stop ?? Event()) ? [UInt8](output.bytes) : nil
    }

    @Test("their output is collected, and so are their messages")
    func output() throws {
        #expect(try Self.run("printf picture; echo talk >&2") == Array("picture".utf8))
        #expect(try Self.run("head -c 5000000 /dev/zero; yes | head -c 1000000 >&2")?.count == 5_000_000)
        #expect(try Self.run("true") == [])
        #expect(try Self.run("cat") == [], "their input is empty")
    }

    @Test("their words reach them as they are, without a shell")
    func words() throws {
        let output = CommandOutput(limit: 1000)
        let words = ["printf", "%s|", "a b", "$HOME", "", "*", "--"]
        #expect(
            try CommandRun.run(
                ScreenshotCommand(words: words, timeout: 30_000_000_000),
                into: output,
                stop: try Event()
            )
        )
        #expect(String(decoding: output.bytes, as: UTF8.self) == "a b|$HOME||*|--|")
    }

    @Test("memory is used again, for what the next one writes alone")
    func again() throws {
        let output = CommandOutput(limit: 1000)
        for text in ["a longer text", "short"] {
            let command = ScreenshotCommand(words: ["printf", text], timeout: 30_000_000_000)
            #expect(try CommandRun.run(command, into: output, stop: try Event()))
            #expect(String(decoding: output.bytes, as: UTF8.self) == text)
        }
    }

    @Test(
        "their failure is reported with their last line of output",
        arguments: [
            ("echo one >&2; echo two >&2; exit 3", "it exited with status 3; it said: two"),
            ("exit 1", "it exited with status 1"), ("kill -9 $$", "it was ended by signal 9"),
        ]
    )
    func failure(script: String, reason: String) throws {
        let error = #expect(throws: CommandError.self) { try Self.run(script) }
        #expect(error?.cause == "command_failed" && error?.reason == reason)
    }

    @Test("a missing program is reported as missing")
    func missing() {
        let command = ScreenshotCommand(words: ["/nonexistent/program"], timeout: 1_000_000_000)
        let error = #expect(throws: CommandError.self) {
            try CommandRun.run(command, into: CommandOutput(limit: 1), stop: try Event())
        }
        #expect(error?.cause == "command_not_started" && error?.reason.contains("No such file") == true)
    }

    @Test("slow ones and those that write without end are ended, with all that they have started")
    func ended() async throws {
        let marker = "heliograph-\(UUID().uuidString)"
        let slow = #expect(throws: CommandError.self) {
            try Self.run("sh -c 'sleep 1000; : \(marker)' & wait", seconds: 0.3)
        }
        #expect(slow?.cause == "command_timeout")
        let endless = #expect(throws: CommandError.self) { try Self.run("cat /dev/zero; : \(marker)", limit: 1 << 20) }
        #expect(endless?.reason.contains("more than") == true)
        _ = try await eventually("the end of all") { try Self.isRunning(marker) ? nil : true }
    }

    @Test("a program that leaves a child with open pipes is done when it ends itself")
    func daemon() async throws {
        let marker = "heliograph-\(UUID().uuidString)"
        #expect(try Self.run("printf picture; sh -c 'sleep 1000; : \(marker)' & exit 0") == Array("picture".utf8))
        _ = try await eventually("the end of all") { try Self.isRunning(marker) ? nil : true }
    }

    @Test("they are ended when the source is")
    func stop() throws {
        let stop = try Event()
        stop.set()
        #expect(try Self.run("sleep 1000", stop: stop) == nil)
    }

    private static func isRunning(_ marker: String) throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.contains { pid in
            guard let line = try? Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/cmdline")) else { return false }
            return String(decoding: line, as: UTF8.self).contains(marker)
        }
    }
}
