import Foundation
import HeliographAPI
import Logging
import Media
import NIOCore
import Relay
import TestSupport
import Testing
import Wire

@Suite("A configuration file")
struct ConfigurationFileTests {
    private func settings(_ text: String) throws -> RelaySettings {
        try ConfigurationFile.settings(in: text, path: "relay.yaml")
    }

    /// Returns the error for `text`, without the file's name.
    private func faults(_ text: String) throws -> [String] {
        let error = try #require(throws: ConfigurationError.self) { try settings(text) }
        #expect(error.lines.allSatisfy { $0.hasPrefix("relay.yaml:") })
        return error.lines.map { String($0.dropFirst("relay.yaml:".count)) }
    }

    @Test("allows origins as browsers write them, and no others")
    func origins() throws {
        for origin in ["http://localhost:3000", "https://ci.example", "http://[::1]:8080", "https://10.0.0.1:8443"] {
            #expect(try settings("allowedOrigins: [\"\(origin)\"]").values.allowedOrigins == [origin])
        }
        for origin in [
            "ci.example", "ftp://ci.example", "https://ci.example/", "https://ci.example:443", "http://ci.example:80",
            "https://*.example", "https://ci.example:99999", "https://x'y", "https://", "null",
        ] {
            let faults = try faults("allowedOrigins: [\"\(origin)\"]")
            #expect(faults.count == 1 && faults[0].contains("allowed: http:// or https://"), "\(origin): \(faults)")
        }
    }

    @Test("says all that the flags say, and the devices")
    func saysEverything() throws {
        var expected = RelayConfiguration()
        expected.http = Endpoint(host: "127.0.0.1", port: 8421)
        expected.agentLink = Endpoint(host: "::1", port: 0)
        expected.sessionPortBase = 0
        expected.eachDevice.maximumSessions = 3
        expected.eachDevice.maximumViewers = 4
        expected.eachDevice.agentExecutable = "/opt/agent"
        expected.eachDevice.source = SourceRequest(kind: .auto)
        expected.linkTokenFile = "/run/token"
        expected.watchdog = .milliseconds(2500)
        expected.helloTimeout = .seconds(2)
        expected.agentReturnGrace = .zero
        expected.portsFile = "/run/ports.json"
        expected.printsPorts = true
        expected.logLevel = .debug
        var tv = DeviceConfiguration()
        tv.source = SourceRequest(kind: .testPattern, size: PictureSize(width: 640, height: 360), fps: 30)
        tv.agentExecutable = "/opt/other"
        tv.environment = ["WAYLAND_DISPLAY": "wayland-1", "EMPTY": "", "YES": "yes"]
        tv.stateDirectory = "/var/lib/tv"
        tv.consentTimeout = .seconds(90)
        tv.input = .portal
        tv.sound = .sink("hdmi")
        tv.soundCoding.bitrate = 96
        tv.soundCoding.packet = .ms2Point5
        tv.hasMicrophone = true
        tv.screenshotCommand = ["adb", "-s", "0123", "exec-out", "screencap", "-p"]
        tv.screenshotTimeout = .milliseconds(2500)
        tv.maximumSessions = 1
        tv.maximumViewers = 2
        tv.isOnDemand = true
        tv.applications = [
            "shell": AllowedApplication(
                command: ["foot", "-e", "top"],
                directory: "/d",
                environment: ["B": "y"],
                takesArguments: true
            )
        ]
        tv.allowsDesktopFiles = true
        (tv.isRecorded, tv.recordWhen, tv.recordedSound) = (true, .watched, .both)
        let names = Set(DeviceConfiguration.settings.map(\.name)).subtracting([
            "fallback", "autostart", "sessions", "labels",
        ])
        expected.listedDevices = [
            DeviceSettings(name: "tv", settings: Settings(tv, names: names)), DeviceSettings(name: "Wall_2-b"),
        ]
        var settings = try settings(Self.everything)
        #expect(settings.places["http"] == "relay.yaml:2:7")
        #expect(settings.places["devices"]?.hasPrefix("relay.yaml:") == true)
        settings.places = [:]
        let saidNames = [
            "http", "agentLink", "sessionPortBase", "maxSessions", "maxViewers", "agent", "source", "linkTokenFile",
            "watchdog", "helloTimeout", "agentReturnGrace", "portsFile", "printPorts", "logLevel", "devices",
        ]
        #expect(settings == RelaySettings(expected, names: Set(saidNames)))
    }

    private static let everything = """
        # A comment
        http: 127.0.0.1:8421
        agentLink: "[::1]:0"
        sessionPortBase: 0
        maxSessions: 3
        maxViewers: 4
        agent: /opt/agent
        source: {kind: auto}
        linkTokenFile: /run/token
        watchdog: 2.5
        helloTimeout: 2
        agentReturnGrace: 0
        portsFile: /run/ports.json
        printPorts: true
        logLevel: debug
        devices:
          tv:
            source:
              kind: test-pattern
              width: 640
              height: 360
              fps: 30.0
            agent: /opt/other
            environment:
              WAYLAND_DISPLAY: wayland-1
              EMPTY: ""
              YES: yes
            stateDirectory: /var/lib/tv
            consentTimeout: 90
            input: portal
            audio: sink:hdmi
            audioBitrate: 96
            audioPacket: 2.5
            microphone: true
            screenshotCommand: [adb, -s, "0123", exec-out, screencap, -p]
            screenshotTimeout: 2.5
            maxSessions: 1
            maxViewers: 2
            onDemand: true
            applications:
              shell: {command: [foot, "-e", top], directory: /d, environment: {B: y}, arguments: true}
            desktopFiles: true
            record: true
            recordWhen: watched
            recordAudio: both
          Wall_2-b: {}
        """

    @Test("may be empty", arguments: ["", "\n", "# nothing\n", "---\n", "{}", "~"])
    func mayBeEmpty(text: String) throws {
        #expect(try settings(text) == RelaySettings())
    }

    @Test(
        "with a fault is refused with its place, and what is allowed",
        arguments: [
            (
                "maxSesions: 3",
                "1:1: Unknown field 'maxSesions'. Did you mean 'maxSessions'? Allowed: http, agentLink, "
            ),
            ("\n\nmaxSessions: 0", "3:14: maxSessions is 0; allowed: 1 to 1000"),
            ("maxViewers: 1.5", "1:13: maxViewers is 1.5; a whole number is expected"),
            ("maxViewers: \"4\"", "1:13: maxViewers is a string; a whole number is expected"),
            ("maxViewers: 1:30", "1:13: maxViewers is a string; a whole number is expected"),
            ("maxViewers: 0x10", "1:13: maxViewers is a string; a whole number is expected"),
            ("maxViewers: [4]", "1:13: maxViewers is an array; a whole number is expected"),
            ("maxViewers: {n: 4}", "1:13: maxViewers is an object; a whole number is expected"),
            ("maxViewers:", "1:12: maxViewers is null; a whole number is expected"),
            ("watchdog: 0.05", "1:11: watchdog is 0.05; allowed: 0.1 to 3600.0"),
            ("watchdog: .inf", "1:11: watchdog is a string; a number is expected"),
            ("printPorts: yes", "1:13: printPorts is a string; true or false is expected"),
            ("sessionPortBase: 80", "1:18: sessionPortBase is 80; allowed: 0, 1024 to 65535"),
            ("http: 0.0.0.0", "1:7: http is \"0.0.0.0\"; allowed: an address with a port"),
            (
                "agentLink: 0.0.0.0:80",
                "1:12: agentLink is \"0.0.0.0:80\"; allowed: 127.0.0.1, ::1 in brackets or localhost"
            ),
            ("tls: on", "1:6: tls is \"on\"; allowed: none, self-signed, or an object with certificate and key"),
            ("tls: {certificate: /c}", "1:6: tls.key is missing"),
            ("agentUsers: [no-such-user]", "1:13: agentUsers has \"no-such-user\"; allowed: names and numbers"),
            ("logLevel: loud", "1:11: logLevel is \"loud\"; allowed: trace, debug, info, notice, "),
            ("logLevel: debgu", "1:11: logLevel is \"debgu\". Did you mean 'debug'? Allowed: trace, debug, info, "),
            ("agent: ''", "1:8: agent is 0 characters long; allowed: 1 to 4096 characters"),
            ("agent: \"a\\0b\"", "1:8: agent contains a NUL; allowed: any other character"),
            ("source: portal", "1:9: source is a string; an object is expected"),
            ("source: {}", "1:9: source.kind is missing"),
            ("source: {kind: node}", "1:9: source.node is missing"),
            ("source:\n  kind: portal\n  fps: 3", "3:3: Unknown field 'source.fps'. Allowed: kind, cursor"),
            ("devices: {}", "1:10: devices has 0 devices; allowed: 1 to 64"),
            ("devices:\n  tv:", "2:6: devices.tv is null; an object is expected"),
            (
                "devices:\n  a b: {}",
                "2:3: devices.a b is not a device's name; allowed: 1 to 64 letters, digits, - and _"
            ),
            (
                "devices: {tv: {fps: 3}}",
                "1:16: Unknown field 'devices.tv.fps'. Allowed: source, fallback, input, audio, audioBitrate, "
            ),
            ("devices: {tv: {maxViewers: 0}}", "1:28: devices.tv.maxViewers is 0; allowed: 1 to 10000"),
            ("devices: {tv: {stateDirectory: x}}", "1:32: devices.tv.stateDirectory is x; allowed: absolute paths"),
            (
                "devices: {tv: {screenshotCommand: grim}}",
                "1:35: devices.tv.screenshotCommand is a string; an array of strings is expected"
            ),
            (
                "devices: {tv: {screenshotCommand: []}}",
                "1:35: devices.tv.screenshotCommand has 0 strings; allowed: 1 to 100"
            ),
            (
                "devices: {tv: {screenshotCommand: [grim, 3]}}",
                "1:35: devices.tv.screenshotCommand contains a number; an array of strings is expected"
            ),
            (
                "devices: {tv: {screenshotCommand: [grim, \"a\\0b\"]}}",
                "1:35: devices.tv.screenshotCommand contains a string of 3 characters; allowed: "
            ),
            ("devices: {tv: {screenshotCommand: [&a grim]}}", "1:36: anchors are not supported: "),
            (
                "devices: {tv: {environment: {A: 1}}}",
                "1:33: devices.tv.environment.A is a number; a string is expected"
            ),
            (
                "devices: {tv: {environment: {1A: x}}}",
                "1:30: devices.tv.environment.1A is not a variable's name; allowed: "
            ),
            (
                "devices:\n  tv:\n    environment:\n      HELIOGRAPH_LINK_TOKEN: x",
                "4:7: devices.tv.environment.HELIOGRAPH_LINK_TOKEN is set by the relay itself; "
            ),
            ("maxViewers: 3\nhttp: x\nmaxViewers: 4", "1:1: maxViewers is given again further down; allowed: once"),
            ("maxViewers: 3\n\"maxViewers\": 4", "1:1: maxViewers is given again further down; allowed: once"),
            ("devices:\n  1: {}\n  \"1\": {}", "3:3: devices.1 is given here for the second time; allowed: once"),
            ("? [a]\n: 1", "1:3: the name of a field must be a word"),
            ("maxViewers: &n 4", "1:13: anchors are not supported: write the value where it belongs"),
            ("maxViewers: &n 4\nmaxSessions: *n", "2:14: aliases are not supported: write the value where it belongs"),
            ("maxViewers: !!int \"4\"", "1:13: tags are not supported: write the value without one"),
            ("source: !x {kind: auto}", "1:9: tags are not supported: write the value without one"),
            ("- http", "1:1: the file is an array; an object is expected, such as http: 127.0.0.1:8420"),
            ("a: 1\n---\nb: 2", "2:1: this is not YAML: expected a single document in the stream, but found another"),
            ("http: [", "2:1: this is not YAML: while parsing a flow node, did not find expected node content"),
            ("http: 1\n\tagent: x", "2:1: this is not YAML: "),
            ("http: \u{1}", "1:7: this is not YAML: control characters are not allowed"),
        ]
    )
    func isRefused(text: String, fault: String) throws {
        let faults = try faults(text)
        #expect(faults.count >= 1)
        #expect(faults.contains { $0.hasPrefix(fault) }, "\(faults)")
    }

    @Test("tells all its faults at once, in the order of its lines, and none of the environment's values")
    func tellsAllFaults() throws {
        let faults = try faults(
            """
            maxSesions: 3
            devices:
              tv:
                environment:
                  HELIOGRAPH_LINK_TOKEN: a-secret-value
                  1A: a-secret-value
                  PASSWORD: [a-secret-value]
                maxViewers: &n 0
              wall:
                source: {kind: test-pattern, width: 9, fps: 500}
            watchdog: never
            """
        )
        let places = faults.map { $0.split(separator: " ")[0] }
        #expect(
            places == ["1:1:", "5:7:", "6:7:", "7:17:", "8:17:", "10:13:", "10:41:", "10:49:", "11:11:"],
            "\(faults)"
        )
        #expect(!faults.contains { $0.contains("a-secret-value") })
    }

    @Test("that is too long, no text or not there is refused")
    func isNoText() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("heliograph-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("relay.yaml")
        func fault() throws -> String {
            try #require(throws: ConfigurationError.self) { try ConfigurationFile.settings(at: file.path) }.description
        }
        #expect(try fault() == "\(file.path): the configuration file cannot be read: No such file or directory")
        try Data([0x61, 0xFF]).write(to: file)
        #expect(try fault() == "\(file.path): the configuration file is not UTF-8")
        let limit = ConfigurationFile.maximumSize
        try Data(repeating: UInt8(ascii: "#"), count: limit).write(to: file)
        #expect(try ConfigurationFile.settings(at: file.path) == RelaySettings())
        try Data(repeating: UInt8(ascii: "#"), count: limit + 1).write(to: file)
        #expect(try fault() == "\(file.path): the configuration file is longer than \(limit) bytes")
    }

    @Test("that grows when it is read is refused before it does")
    func doesNotGrow() throws {
        let layers = (1..<40).map { layer in
            "a\(layer): &a\(layer) [" + [String](repeating: "*a\(layer - 1)", count: 9).joined(separator: ", ") + "]"
        }
        let bomb = (["a0: &a0 [x]"] + layers).joined(separator: "\n")
        #expect(try faults(bomb) == ["2:10: aliases are not supported: write the value where it belongs"])
        // As a field name it would have to be compared with other names.
        #expect(try faults(bomb + "\n? *a39\n: 1").count == 1)
        #expect(try faults(String(repeating: "[", count: 500_000)).count == 1)
        #expect(try faults(String(repeating: "{a: ", count: 900) + "1" + String(repeating: "}", count: 900)).count == 1)
        #expect(try settings("# " + String(repeating: "*&", count: 500_000)) == RelaySettings())
    }

    @Test("may have what looks like an alias in its strings")
    func stringsMayLookLikeAliases() throws {
        let device = try settings("devices: {tv: {environment: {A: \"*.log & more *a\"}}}").values.listedDevices.first
        #expect(device?.settings.values.environment == ["A": "*.log & more *a"])
    }

    @Test("that is any bytes is read or refused, and the relay goes on")
    func survivesAnyBytes() throws {
        var generator = SeededGenerator(seed: 7)
        let alphabet = Array("{}[]:,-?&*!|>'\"%@`# \n\tabdevics01.~<\u{e9}".unicodeScalars)
        for _ in 0..<5_000 {
            var text = "devices:\n  a:\n    source: "
            for _ in 0..<Int.random(in: 0...40, using: &generator) {
                text.unicodeScalars.append(alphabet[Int.random(in: 0..<alphabet.count, using: &generator)])
            }
            do {
                _ = try settings(text)
            } catch let error as ConfigurationError {
                #expect(!error.lines.isEmpty)
            }
        }
    }
}
