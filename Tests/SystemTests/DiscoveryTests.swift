import Foundation
import TestSupport
import Testing

extension SystemTests {
    /// Tests of relays that announce themselves by Avahi.
    @Suite("Relays in the local network", .enabled(if: getuid() == 0, "only root can run Avahi"))
    struct DiscoveryTests {
        /// A bus with an Avahi daemon: Tests/Desktop/avahi.
        private final class Network {
            let environment: [String: String]
            private let process = Process()
            private let (input, output) = (Pipe(), Pipe())

            init(_ scratch: Scratch) throws {
                environment = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(scratch.file("bus").path)"]
                process.executableURL = Programs.desktop.deletingLastPathComponent().appendingPathComponent("avahi")
                process.arguments = [scratch.folder.path]
                (process.standardInput, process.standardOutput) = (input, output)
                try Programs.start(process)
                try waitUntilReady()
            }

            deinit {
                try? input.fileHandleForWriting.close()
                process.waitUntilExit()
            }

            func restartAvahi() throws {
                try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
                try waitUntilReady()
            }

            private func waitUntilReady() throws {
                guard try output.fileHandleForReading.read(upToCount: 6) == Data("ready\n".utf8) else {
                    throw NeverCame(description: "Avahi did not begin")
                }
            }
        }

        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// What the relay has logged.
        private var log: String { (try? String(contentsOf: scratch.file("log"), encoding: .utf8)) ?? "" }

        /// Starts a relay that other machines can call.
        private func relay(_ environment: [String: String], _ arguments: [String] = []) async throws -> RelayProcess {
            let keys = scratch.file("keys.json").path
            if !FileManager.default.fileExists(atPath: keys) {
                let key = ["--keys-file", keys, "--output", scratch.file("key").path]
                let made = try heliograph([:], ["keys", "make", "client", "--role", "operator"] + key)
                try #require(made.status == 0, "\(made.errors)")
            }
            try Data().write(to: scratch.file("log"))
            let open = ["--http", "0.0.0.0:0", "--tls", "self-signed", "--keys-file", keys, "--state-file", "none"]
            return try await RelayProcess(
                arguments: open + arguments,
                environment: environment.merging(home) { $1 },
                log: try FileHandle(forWritingTo: scratch.file("log"))
            )
        }

        /// The key of the client that ``relay(_:_:)`` has made.
        private var key: String {
            get throws {
                try String(contentsOf: scratch.file("key"), encoding: .utf8).trimmingCharacters(in: .newlines)
            }
        }

        private var home: [String: String] { ["XDG_STATE_HOME": scratch.file("state").path] }

        private func heliograph(_ environment: [String: String], _ arguments: [String]) throws -> Programs.Outcome {
            try Programs.run(
                Programs.product("heliograph"),
                arguments,
                environment: environment.merging(home) { $1 }
            )
        }

        /// Waits until the command finds the relay, and returns what it says.
        private func found(_ network: Network) async throws -> RelayProcess.Object {
            try await eventually("the relay") {
                let outcome = try heliograph(network.environment, ["discover", "--json", "--for", "1"])
                guard outcome.status == 0 else { return nil }
                return try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? RelayProcess.Object
            }
        }

        @Test("are found with their fingerprint, also after Avahi has begun again")
        func found() async throws {
            let network = try Network(scratch)
            let relay = try await relay(network.environment)
            defer { relay.terminate() }
            let first = try await found(network)
            let (url, fingerprint) = (try #require(first.string("url")), try #require(first.string("fingerprint")))
            #expect(url == "https://127.0.0.1:\(relay.httpPort)" && first.string("host") == "wall.local")
            let added = try heliograph([:], ["trust", "add", url, "--fingerprint", fingerprint])
            #expect(added.status == 0, "\(added.errors)")
            #expect(try await found(network).string("trustedAt") == url)
            let elsewhere = "https://localhost:\(relay.httpPort)"
            let moved = try heliograph([:], ["trust", "move", url, elsewhere])
            #expect(moved.status == 0, "\(moved.errors)")
            #expect(try await found(network).string("trustedAt") == elsewhere)
            let list = try Programs.run(
                URL(fileURLWithPath: "/usr/bin/curl"),
                ["-sk", "-H", "Authorization: Bearer \(try key)", "\(elsewhere)/v1/relays"]
            )
            #expect(list.output.contains(fingerprint) && list.output.contains("\"problem\":null"), "\(list.output)")

            try network.restartAvahi()
            #expect(try await found(network).string("id") == first.string("id"))
            #expect(log.components(separatedBy: "not announced in the local network").count == 2, "it is told once")
            #expect(relay.terminate() == 0)
            _ = try await eventually("that it is gone") {
                try heliograph(network.environment, ["discover", "--for", "1"]).status == 1 ? true : nil
            }
        }

        @Test("that hide, or listen on loopback only, are not found; the command says so")
        func hidden() async throws {
            let network = try Network(scratch)
            for arguments in [["--hide"], ["--http", "127.0.0.1:0"]] {
                let relay = try await relay(network.environment, arguments)
                let outcome = try heliograph(network.environment, ["discover", "--for", "2"])
                #expect(outcome.status == 1 && outcome.errors.contains("no relay has announced itself"), "\(outcome)")
                #expect(!log.contains("announced in the local network"))
                relay.terminate()
            }
        }

        @Test("run without Avahi, which is told once, and the command says what to install")
        func absent() async throws {
            let nowhere = ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(scratch.file("nowhere").path)"]
            let relay = try await relay(nowhere)
            defer { relay.terminate() }
            _ = try await eventually("the log") { log.contains("not announced in the local network") ? true : nil }
            let outcome = try heliograph(nowhere, ["discover", "--for", "1"])
            #expect(outcome.status == 1 && outcome.errors.contains("apt install avahi-daemon"), "\(outcome)")
            #expect(log.components(separatedBy: "not announced in the local network").count == 2)
        }
    }
}
