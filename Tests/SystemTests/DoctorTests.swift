import Foundation
import Program
import TestSupport
import Testing
import Wire

extension SystemTests {
    /// Tests of `heliograph doctor` on real desktops and without one.
    @Suite("Doctor")
    struct DoctorTests {
        private struct Report: Decodable {
            let healthy: Bool
            let findings: [Finding]

            func verdicts(_ check: String) -> [Finding.Verdict] {
                findings.filter { $0.check == check }.map(\.verdict)
            }
        }

        private func report(_ outcome: Programs.Outcome) throws -> Report {
            do {
                return try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8))
            } catch {
                throw NeverCame(description: "the doctor says \(outcome.output)\(outcome.errors)")
            }
        }

        /// The doctor in a desktop, as its user.
        private func examine(_ desktop: Desktop, relay: RelayProcess) throws -> (Report, status: Int32) {
            let outcome = try Programs.run(
                Programs.desktop,
                ["exec", desktop.directory.path, "heliograph", "doctor", "--json"]
                    + ["--relay", "http://127.0.0.1:\(relay.httpPort)"]
            )
            return (try report(outcome), outcome.status)
        }

        @Test("on a desktop with a portal everything works, except that permission is missing until a person gives it")
        func portal() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            try desktop.stageCommand()
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let (before, status) = try examine(desktop, relay: relay)
            #expect(status == 0 && before.healthy, "\(before.findings)")
            for check in [
                "relay", "broadcast", "agent", "pipewire", "screencast", "screenshots", "encoders", "state", "input",
            ] {
                #expect(before.verdicts(check) == [.ok], "\(check): \(before.findings)")
            }
            #expect(before.verdicts("consent") == [.warning])
            try await relay.post("/screencapture/broadcast/start")
            let (after, _) = try examine(desktop, relay: relay)
            #expect(after.verdicts("consent") == [.ok])
        }

        @Test("what is missing from a desktop is a failure, with what to do about it")
        func noScreen() async throws {
            let desktop = try Desktop(.none, sessionManager: false)
            defer { desktop.end() }
            try desktop.stageCommand()
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            let (report, status) = try examine(desktop, relay: relay)
            #expect(status == 1 && !report.healthy)
            #expect(report.verdicts("relay") == [.ok])
            #expect(report.verdicts("pipewire") == [.warning], "no session manager")
            #expect(report.verdicts("screencast") == [.failure])
            #expect(report.verdicts("screenshots") == [.warning])
            #expect(report.findings.filter { $0.verdict == .failure }.allSatisfy { $0.advice != nil })
        }

        @Test("a broadcast without a picture is a failure")
        func lostSource() async throws {
            let desktop = try Desktop()
            defer { desktop.end() }
            try desktop.stageCommand()
            let relay = try await RelayProcess(in: desktop)
            defer { relay.terminate() }
            try desktop.startProducer("counter", size: "320x240")
            try await relay.post("/screencapture/broadcast/start", ["source": ["kind": "node", "node": "counter"]])
            try desktop.stopProducer("counter")
            let report = try await eventually("the failure") {
                let (report, _) = try examine(desktop, relay: relay)
                return report.verdicts("broadcast") == [.failure] ? report : nil
            }
            #expect(!report.healthy)
        }

        @Test("without a relay and a desktop it says so and exits with 1")
        func nothing() throws {
            let nowhere = "/nonexistent"
            let environment = [
                "XDG_RUNTIME_DIR": nowhere, "PIPEWIRE_RUNTIME_DIR": nowhere,
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(nowhere)", "WAYLAND_DISPLAY": "",
                "DISPLAY": "", "XDG_STATE_HOME": "/dev/null",
            ]
            // Nothing listens on port 9, which is "discard".
            let arguments = ["doctor", "--relay", "http://127.0.0.1:9"]
            let outcome = try Programs.run(
                Programs.product("heliograph"),
                arguments + ["--json"],
                environment: environment
            )
            #expect(outcome.status == 1)
            let report = try report(outcome)
            #expect(report.verdicts("relay") == [.warning])
            for check in ["pipewire", "screencast", "state"] {
                #expect(report.verdicts(check) == [.failure], "\(check): \(report.findings)")
            }
            #expect(report.verdicts("encoders") == [.ok])
            #expect(report.findings.filter { $0.verdict == .failure }.allSatisfy { $0.advice != nil })

            let text = try Programs.run(Programs.product("heliograph"), arguments, environment: environment)
            #expect(text.status == 1)
            #expect(text.output.contains("failure  pipewire: "))
            #expect(text.output.contains("\n         -> "))
        }

        @Test("a port that another program uses is a failure if no relay answers")
        func portTaken() throws {
            let squatter = try Squatter()
            defer { squatter.end() }
            let outcome = try Programs.run(
                Programs.product("heliograph"),
                ["doctor", "--json", "--relay", "http://127.0.0.1:\(squatter.port)"]
            )
            #expect(outcome.status == 1)
            let taken = try report(outcome).findings.first { $0.check == "ports" || $0.verdict == .failure }
            #expect(taken?.statement.contains("\(squatter.port)") == true)
        }

        @Test("an agent that cannot be started is a failure")
        func noAgent() throws {
            let outcome = try Programs.run(
                Programs.product("heliograph"),
                ["doctor", "--json", "--relay", "http://127.0.0.1:9", "--agent", "/nonexistent/capture-agent"]
            )
            #expect(outcome.status == 1)
            #expect(try report(outcome).verdicts("agent") == [.failure])
        }
    }
}

/// A program that listens on a port but does not speak HTTP: it closes every connection.
private final class Squatter {
    let port: UInt16
    private let descriptor: Int32

    init() throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        port = withUnsafeMutableBytes(of: &address) { bytes in
            let pointer = bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!
            // Bound but not listening: no other program can use it, and clients are refused.
            guard bind(descriptor, pointer, length) == 0, getsockname(descriptor, pointer, &length) == 0 else {
                return 0
            }
            return UInt16(bigEndian: bytes.load(fromByteOffset: 2, as: UInt16.self))
        }
        self.descriptor = descriptor
        try #require(port != 0)
    }

    func end() { close(descriptor) }
}
