import HeliographAPI
import NIOCore
import Relay
import Testing
import Wire

@Suite("Settings of the environment")
struct EnvironmentSettingsTests {
    private func faults(_ environment: [String: String]) -> [String] {
        do {
            _ = try EnvironmentSettings.settings(in: environment)
            return []
        } catch {
            return error.lines
        }
    }

    @Test("are named and read as the file's are")
    func values() throws {
        var settings = try EnvironmentSettings.settings(in: [
            "HELIOGRAPH_RELAY_MAX_SESSIONS": "4", "HELIOGRAPH_RELAY_HTTP": "127.0.0.1:1",
            "HELIOGRAPH_RELAY_WATCHDOG": "2.5",
            "HELIOGRAPH_RELAY_PRINT_PORTS": "true", "HELIOGRAPH_RELAY_SOURCE": "{kind: node, node: cam}",
            "HELIOGRAPH_RELAY_AGENT": "'17'", "HELIOGRAPH_RELAY_DEVICES": "{tv: {maxViewers: 3}}",
            "HELIOGRAPH_RELAY_STATE_FILE": "", "HELIOGRAPH_RELAY_CONFIG": "/etc/relay.yaml",
            "HELIOGRAPH_RELAY": "http://x",
            "HELIOGRAPH_LINK_TOKEN": "secret", "PATH": "/bin",
        ])
        var file = try ConfigurationFile.settings(
            in: """
                {maxSessions: 4, http: 127.0.0.1:1, watchdog: 2.5, printPorts: true, source: {kind: node, node: cam}, agent: '17',
                 devices: {tv: {maxViewers: 3}}}
                """,
            path: "relay.yaml"
        )
        #expect(settings.places["maxSessions"] == "HELIOGRAPH_RELAY_MAX_SESSIONS")
        (settings.places, file.places) = ([:], [:])
        #expect(settings == file)
    }

    @Test("may name a source by its kind alone")
    func source() throws {
        let settings = try EnvironmentSettings.settings(in: ["HELIOGRAPH_RELAY_SOURCE": "mutter"])
        #expect(settings.values.eachDevice.source == SourceRequest(kind: .mutter))
    }

    @Test("wrong ones are named, each with its error")
    func wrong() {
        #expect(
            faults(["HELIOGRAPH_RELAY_MAX_SESIONS": "4"]).first?.hasPrefix(
                "HELIOGRAPH_RELAY_MAX_SESIONS: Unknown field 'maxSesions'. Did you mean 'maxSessions'? Allowed: http, "
            ) == true
        )
        #expect(
            faults(["HELIOGRAPH_RELAY_MAX_SESSIONS": "0"]) == [
                "HELIOGRAPH_RELAY_MAX_SESSIONS: is 0; allowed: 1 to 1000"
            ]
        )
        #expect(faults(["HELIOGRAPH_RELAY_MAX_SESSIONS": "many", "HELIOGRAPH_RELAY_WATCHDOG": "0"]).count == 2)
        #expect(
            faults(["HELIOGRAPH_RELAY_AGENT": "[a"]).first?.hasPrefix("HELIOGRAPH_RELAY_AGENT: this is not YAML")
                == true
        )
        let nested = faults(["HELIOGRAPH_RELAY_DEVICES": "{tv: {maxViewers: 0}}"])
        #expect(nested == ["HELIOGRAPH_RELAY_DEVICES: tv.maxViewers is 0; allowed: 1 to 10000"])
        #expect(
            faults(["HELIOGRAPH_RELAY_DEVICES": "{tv: {fps: 3}}"]).first?.hasPrefix(
                "HELIOGRAPH_RELAY_DEVICES: Unknown field 'tv.fps'. Allowed: source, "
            ) == true
        )
    }
}
