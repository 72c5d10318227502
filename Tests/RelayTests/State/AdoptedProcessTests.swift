import Foundation
import NIOCore
import Program
import Relay
import TestSupport
import Testing

@Suite("A process that a former relay started")
struct AdoptedProcessTests {
    /// Starts a process that sleeps, and that SIGTERM ends even if this process ignores the signal.
    private static func sleeper() async throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["--default-signal=TERM", "sleep", "60"]
        try process.run()
        _ = try await eventually("a process that sleeps") {
            let name = try String(contentsOfFile: "/proc/\(process.processIdentifier)/comm", encoding: .utf8)
            return name == "sleep\n" ? true : nil
        }
        return process
    }

    @Test("ends by SIGTERM, or by SIGKILL 3 s later where it is stopped as a whole", arguments: [false, true])
    func terminated(isStopped: Bool) async throws {
        let process = try await Self.sleeper()
        defer { kill(process.processIdentifier, SIGKILL) }
        if isStopped { try Victim.signal(process.processIdentifier, SIGSTOP) }
        let identity = try #require(ProcessIdentity(pid: process.processIdentifier))
        let adopted = try #require(AdoptedProcess(identity))
        #expect(adopted.pid == process.processIdentifier)
        #expect(!adopted.hasEnded)
        adopted.tick(now: at(0))
        adopted.terminate(now: at(0))
        if isStopped {
            adopted.tick(now: at(2999))
            #expect(!adopted.hasEnded)
            adopted.terminate(now: at(2999))
            adopted.tick(now: at(3000))
        }
        _ = try await eventually("its end") { adopted.hasEnded && !process.isRunning ? true : nil }
        #expect(process.terminationReason == .uncaughtSignal)
        #expect(process.terminationStatus == (isStopped ? SIGKILL : SIGTERM))
    }

    @Test("is not mistaken: a process that is gone, or whose number another one has now, does not count")
    func identity() async throws {
        let process = try await Self.sleeper()
        let identity = try #require(ProcessIdentity(pid: process.processIdentifier))
        var another = identity
        another.started += 1
        #expect(AdoptedProcess(another) == nil)
        try Victim.signal(process.processIdentifier, SIGKILL)
        _ = try await eventually("its end") { process.isRunning ? nil : true }
        #expect(AdoptedProcess(identity) == nil)
        #expect(ProcessIdentity(pid: -1) == nil)
    }

    @Test("is distinguished from one that started later")
    func start() throws {
        let own = try #require(ProcessIdentity(pid: getpid()))
        #expect(ProcessIdentity(pid: getpid()) == own)
        let first = try #require(ProcessIdentity(pid: 1))
        #expect(first.started < own.started)
    }
}
