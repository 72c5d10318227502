import Access
import Foundation
import HeliographAPI
import Logging
import NIOCore
import Relay
import TestSupport
import Testing
import Wire

@Suite("Settings")
struct SettingsTests {
    private func settings(_ text: String) throws -> RelaySettings {
        try ConfigurationFile.settings(in: text, path: "relay.yaml")
    }

    @Test("of the flags count more than the file's, and these more than the defaults")
    func flagsCountMore() throws {
        let flags = try settings("{maxViewers: 7, watchdog: 1}")
        let file = try settings("maxViewers: 8\nhelloTimeout: 2\nwatchdog: 9\ndevices: {tv: {}, wall: {maxViewers: 9}}")
        let configuration = try RelayConfiguration(flags.over(file), linkToken: nil)
        #expect(configuration.watchdog == .seconds(1))
        #expect(configuration.helloTimeout == .seconds(2))
        #expect(configuration.agentReturnGrace == RelayConfiguration().agentReturnGrace)
        #expect(configuration.devices.map(\.name) == ["tv", "wall"])
        #expect(configuration.devices.map(\.maximumViewers) == [7, 9], "a device's own count most")
        #expect(configuration.devices.map(\.maximumSessions) == [8, 8])
    }

    @Test("each of which only the flags or only the file name stay what they are")
    func eachSettingComesThrough() throws {
        let all = try ConfigurationFile.settings(
            at: Programs.repository.appendingPathComponent("Tests/Corpus/configuration/all").path
        )
        #expect(all.names == Set(RelayConfiguration.settings.map(\.name)), "the file names every setting")
        #expect(all.places.count == all.names.count)
        let device = try #require(all.values.listedDevices.first)
        #expect(device.settings.names == Set(DeviceConfiguration.settings.map(\.name)), "and every one of a device")
        let connections = try RelayConfiguration(
            settings("{maxConnections: 6, maxConnectionsPerAddress: 7, requestTimeout: 8, idleTimeout: 9}"),
            linkToken: nil
        ).connections
        #expect(connections.maximum == 6)
        #expect(connections.maximumPerAddress == 7)
        #expect(connections.requestTimeout == .seconds(8))
        #expect(connections.idleTimeout == .seconds(9))
        #expect(all.over(RelaySettings()) == all)
        #expect(RelaySettings().over(all) == all)
    }

    @Test("without devices are for one, named default")
    func oneDevice() throws {
        let configuration = try RelayConfiguration(
            settings("{source: {kind: auto}, agent: /a, maxSessions: 2}"),
            linkToken: nil
        )
        var device = DeviceConfiguration(name: "default")
        device.source = SourceRequest(kind: .auto)
        device.agentExecutable = "/a"
        device.maximumSessions = 2
        #expect(configuration.devices == [device])
    }

    @Test("for all devices hold for those that say nothing else")
    func devicesInherit() throws {
        let configuration = try RelayConfiguration(
            settings(
                "{source: {kind: auto}, agent: /a, devices: {one: {}, two: {source: {kind: mutter}, agent: /b, environment: {A: x}}}}"
            ),
            linkToken: nil
        )
        #expect(configuration.devices.map(\.source.kind) == [.auto, .mutter])
        #expect(configuration.devices.map(\.agentExecutable) == ["/a", "/b"])
        #expect(configuration.devices.map(\.environment) == [[:], ["A": "x"]])
    }

    @Test("name the state file, or the agents' port does; a relay on any port keeps none")
    func stateFiles() throws {
        func path(_ text: String, in directory: String? = "/state") throws -> String? {
            try RelayConfiguration(settings(text), linkToken: nil, stateDirectory: directory).stateFile
        }
        #expect(try path("{}") == "/state/relay-9300.json")
        #expect(try path("agentLink: 127.0.0.1:9400") == "/state/relay-9400.json")
        #expect(try path("agentLink: 127.0.0.1:0") == nil)
        #expect(try path("{stateFile: /own, agentLink: 127.0.0.1:0}") == "/own")
        #expect(try path("stateFile: none") == nil)
        #expect(try path("{}", in: nil) == nil)
    }

    @Test("say what a standby captures; else the source does")
    func fallbacks() throws {
        let configuration = try RelayConfiguration(
            settings(
                "{fallback: none, devices: {one: {}, two: {fallback: test-pattern}, three: {fallback: {kind: node, node: x}}}}"
            ),
            linkToken: nil
        )
        let portal = SourceRequest(kind: .portal)
        #expect(configuration.devices.map { $0.fallback(for: portal)?.kind } == [nil, .testPattern, .node])
        let silent = DeviceConfiguration()
        var hidden = portal
        hidden.cursor = .hidden
        #expect(silent.fallback(for: hidden)?.kind == .screenshot)
        #expect(silent.fallback(for: hidden)?.cursor == .hidden)
        for kind in [SourceKind.node, .screenshot, .testPattern] {
            #expect(silent.fallback(for: SourceRequest(kind: kind)) == nil)
        }
        var commanded = DeviceConfiguration()
        commanded.screenshotCommand = ["grim", "-t", "ppm", "-"]
        #expect(commanded.fallback(for: SourceRequest(kind: .node))?.kind == .screenshot)
        for kind in [SourceKind.screenshot, .testPattern] {
            #expect(commanded.fallback(for: SourceRequest(kind: kind)) == nil)
        }
        for wrong in ["fallback: nothing", "fallback: node", "fallback: {node: x}", "fallback: 3"] {
            #expect(throws: ConfigurationError.self) { try settings(wrong) }
        }
    }

    @Test("keep their secrets when they are printed, as the service group prints the relay")
    func secretsAreKept() throws {
        let settings = try settings("devices: {tv: {environment: {PASSWORD: a-secret-value}}}")
        let configuration = try RelayConfiguration(settings, linkToken: "a-secret-value-of-a-token")
        let relay = RelayApplication(configuration: configuration, logger: Logger(label: "test"))
        for text in ["\(settings)", "\(configuration)", "\(relay)", String(reflecting: configuration)] {
            #expect(!text.contains("a-secret-value"), "\(text)")
            #expect(text.contains("tv"))
        }
    }

    @Test("take the token from the environment unless they name a file")
    func tokens() throws {
        let environment = "0123456789abcdef-environment"
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("heliograph-\(UUID().uuidString)")
        try Data("0123456789abcdef-file\n".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
        defer { try? FileManager.default.removeItem(at: file) }
        let without = try RelayConfiguration(RelaySettings(), linkToken: environment)
        #expect(without.linkToken.value == environment)
        let with = try RelayConfiguration(settings("linkTokenFile: \(file.path)"), linkToken: environment)
        #expect(with.linkToken.value == "0123456789abcdef-file")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let error = #expect(throws: RelayStartError.self) { try LinkToken(file: file.path) }
        #expect(error == .tokenUnreadable(path: file.path, reason: "others may read it: chmod o= it"))
        #expect(throws: RelayStartError.self) {
            try RelayConfiguration(settings("linkTokenFile: /nonexistent"), linkToken: environment)
        }
    }
}

@Suite("heliograph-relay --check-config")
struct CheckConfigTests {
    /// Runs the program in a folder with a configuration file, relay.yaml, that contains `text`.
    ///
    /// - Parameter starts: Whether it should try to start, which always fails.
    private func check(
        _ text: String?,
        _ flags: String...,
        environment: [String: String] = [:],
        starts: Bool = false
    ) throws -> Programs.Outcome {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heliograph-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        if let text { try Data(text.utf8).write(to: folder.appendingPathComponent("relay.yaml")) }
        return try Programs.run(
            Programs.product("heliograph-relay"),
            (starts ? [] : ["--check-config"]) + (text == nil ? [] : ["--config", "relay.yaml"]) + flags,
            // Not the state of the user who runs the tests.
            environment: ["XDG_STATE_HOME": folder.path].merging(environment) { $1 },
            directory: folder
        )
    }

    @Test("accepts a correct configuration, and starts nothing")
    func right() throws {
        let outcome = try check("portsFile: ports.json\ndevices: {tv: {}}", "--max-viewers", "3")
        #expect(outcome.status == 0)
        #expect(outcome.output == "ok\n")
        #expect(outcome.errors.isEmpty)
        #expect(try check(nil).output == "ok\n")
    }

    @Test("says every fault of the file with its place, and exits with 64")
    func wrong() throws {
        let outcome = try check("maxViewers: 0\nhttpp: x\n")
        #expect(outcome.status == 64)
        #expect(outcome.output.isEmpty)
        let lines = outcome.errors.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0] == "relay.yaml:1:13: maxViewers is 0; allowed: 1 to 10000")
        #expect(lines[1].hasPrefix("relay.yaml:2:1: Unknown field 'httpp'. Did you mean 'http'? Allowed: "))
    }

    @Test("says what is wrong with the flags, by the same rules, and exits with 64")
    func wrongFlags() throws {
        let outcome = try check(nil, "--max-viewers", "0", "--agent-link", "example.com:80", "--source", "camera")
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("--max-viewers is 0; allowed: 1 to 10000"))
        #expect(outcome.errors.contains("--agent-link is \"example.com:80\"; allowed: 127.0.0.1"))
        #expect(outcome.errors.contains("--source is \"camera\"; allowed: auto"))
        #expect(
            try check(nil, "--tls-certificate", "", "--tls-key", "x").errors.contains(
                "--tls-certificate is 0 characters"
            )
        )
        #expect(try check(nil, "--tls-certificate", "x").status == 64)
        #expect(try check(nil, "--node", "x").status == 64)
        #expect(try check(nil, "--source", "node", "--node", "x").status == 0)
    }

    @Test("says what a relay for other machines lacks, and where that was asked for, as a start does")
    func open() throws {
        let keys = try Keys()
        let lacks = "0.0.0.0:0 is for other machines as well, which needs "
        let both = lacks + "encryption (--tls self-signed, or --tls-certificate FILE --tls-key FILE) and keys ("
        for starts in [false, true] {
            let file = try check("maxViewers: 3\nhttp: 0.0.0.0:0\nkeysFile: none\n", starts: starts)
            #expect(file.status == 64)
            #expect(file.output.isEmpty)
            #expect(
                file.errors.split(separator: "\n").last?.hasPrefix("relay.yaml:2:7: \(both)") == true,
                "\(file.errors)"
            )
        }
        let variable = try check(nil, environment: ["HELIOGRAPH_RELAY_HTTP": "0.0.0.0:0"])
        #expect(variable.status == 64)
        #expect(variable.errors.hasPrefix("HELIOGRAPH_RELAY_HTTP: \(both)"), "\(variable.errors)")
        let flag = try check("http: 127.0.0.1:0\ntls: self-signed\n", "--http", "0.0.0.0:0")
        #expect(flag.status == 64)
        #expect(flag.errors.hasPrefix("--http: \(lacks)keys ("), "\(flag.errors)")
        let empty = try check("{http: \"0.0.0.0:0\", tls: self-signed, keysFile: \(keys.file.path)}")
        #expect(empty.status == 64)
        _ = try keys.make("ci", .operator)
        #expect(try check("{http: \"0.0.0.0:0\", tls: self-signed, keysFile: \(keys.file.path)}").output == "ok\n")
        let open = try check("{http: \"0.0.0.0:0\", keysFile: \(keys.file.path)}")
        #expect(open.errors.contains("needs encryption (") && !open.errors.contains("and keys ("), "\(open.errors)")
    }

    @Test("reads keys and certificate too, and makes none")
    func files() throws {
        let keys = try Keys()
        _ = try keys.make("ci", .operator)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: keys.file.path)
        let readable = try check("keysFile: \(keys.file.path)")
        #expect(readable.status == 64)
        #expect(readable.errors.hasPrefix("relay.yaml:1:11: ") && readable.errors.contains(keys.file.path))
        let missing = try check("tls: {certificate: /nonexistent/c.pem, key: /nonexistent/k.pem}")
        #expect(missing.status == 64)
        #expect(missing.errors.hasPrefix("relay.yaml:1:6: cannot read /nonexistent/"), "\(missing.errors)")
        let state = try Scratch()
        let own = try check("tls: self-signed", environment: ["XDG_STATE_HOME": state.file("").path])
        #expect(own.output == "ok\n")
        #expect(try FileManager.default.contentsOfDirectory(atPath: state.file("").path).isEmpty)
    }

    @Test("reads the token too")
    func token() throws {
        let outcome = try check("linkTokenFile: /nonexistent/token")
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("/nonexistent/token"))
    }

    @Test("without a file of that name says so")
    func missingFile() throws {
        let outcome = try Programs.run(
            Programs.product("heliograph-relay"),
            ["--check-config", "--config", "/nonexistent/relay.yaml"]
        )
        #expect(outcome.status == 64)
        #expect(
            outcome.errors
                == "/nonexistent/relay.yaml: the configuration file cannot be read: No such file or directory\n"
        )
    }
}
