import Access
import Foundation
import HeliographAPI
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("heliograph pair")
struct PairCommandTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func heliograph(
        _ words: String,
        of url: String,
        home: String,
        key: String? = nil
    ) async throws -> Programs.Outcome {
        var environment = ["XDG_STATE_HOME": scratch.file(home).path, "HELIOGRAPH_RELAY": url]
        if let key { environment["HELIOGRAPH_KEY"] = key }
        let line = words.replacing("heliograph ", with: Programs.product("heliograph").path + " ")
        return try await inThread { [environment] in
            try Programs.run(URL(fileURLWithPath: "/bin/sh"), ["-c", line], environment: environment)
        }
    }

    @Test("arms a PIN, waits for the client that types it, and lists and revokes it like a key")
    func course() async throws {
        let keys = try Keys()
        let boss = try keys.make("boss", .operator)
        try await RunningRelay.run(
            {
                $0.keysFile = keys.file.path
                $0.tls = .selfSigned
                $0.stateDirectory = scratch.file("state").path
            },
            { relay in
                let url = relay.url("")
                #expect(try await heliograph("heliograph trust add \(url) --first", of: url, home: "boss").status == 0)
                let output = scratch.file("pin").path
                for (client, isRight) in [("laptop", true), ("wall", false)] {
                    async let armed = heliograph(
                        "heliograph pair --arm --role controller > \(output)",
                        of: url,
                        home: "boss",
                        key: boss.text
                    )
                    let pin = try await eventually("a PIN") {
                        try? String(contentsOfFile: output, encoding: .utf8).split(separator: "\n").first.map(
                            String.init
                        )
                    }
                    let typed = isRight ? pin : "\(pin.dropLast())\(pin.last == "0" ? 1 : 0)"
                    let paired = try await heliograph(
                        "echo \(typed) | heliograph pair --name \(client)",
                        of: url,
                        home: client
                    )
                    let end = try await armed
                    try FileManager.default.removeItem(atPath: output)
                    #expect(paired.status == (isRight ? 0 : 1), "\(paired)")
                    #expect(end.status == (isRight ? 0 : 1), "\(end)")
                    #expect(isRight || paired.errors.contains("wrong_pin") && end.errors.contains("burnt"))
                    let devices = try await heliograph("heliograph devices", of: url, home: client)
                    #expect(devices.status == (isRight ? 0 : 1), "\(devices)")
                }
                // Another program, over HTTP/2.
                let identity = scratch.file("laptop/heliograph/client.pem").path
                let auth = try await heliograph(
                    "curl --silent --insecure --http2 --cert \(identity) --write-out '%{http_version}' \(url)/v1/auth",
                    of: url,
                    home: "laptop"
                )
                #expect(auth.output.contains("\"name\":\"laptop\"") && auth.output.hasSuffix("2"), "\(auth)")
                let file = "--keys-file \(keys.file.path)"
                let listed = try await heliograph("heliograph keys list \(file)", of: url, home: "boss").output
                let lines = listed.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
                #expect(lines.map { $0.prefix(2) } == [["boss", "operator"], ["laptop", "controller"]])
                #expect(
                    lines.first?.last == "-" && lines.last.flatMap { Fingerprint($0.last ?? "") } != nil,
                    "\(listed)"
                )
                _ = try await heliograph("heliograph keys revoke laptop \(file)", of: url, home: "boss")
                let revoked = try await heliograph("heliograph devices", of: url, home: "laptop")
                #expect(revoked.status == 1 && revoked.errors.contains("not_paired"), "\(revoked)")
            }
        )
    }

    @Test("refuses what makes no sense, and a relay whose certificate is another one than the trusted one")
    func refusals() async throws {
        for words in [
            "--arm https://wall:8420", "--arm --name x", "--role viewer", "--digits 6",
            "https://wall:8420 --name 'a b'",
            "--arm --digits 3", "--arm --digits 9", "--arm --days 0", "wall",
        ] {
            let refused = try await heliograph("heliograph pair \(words)", of: "https://127.0.0.1:1", home: "x")
            #expect(refused.status == 64, "\(words): \(refused)")
        }
        let plain = try await heliograph("heliograph pair", of: "http://127.0.0.1:1", home: "x")
        #expect(plain.status == 1 && plain.errors.contains("https://"), "\(plain)")
        try await RunningRelay.run(
            {
                $0.tls = .selfSigned
                $0.stateDirectory = scratch.file("state").path
            },
            { relay in
                let url = relay.url("")
                #expect(try await heliograph("heliograph trust add \(url) --first", of: url, home: "x").status == 0)
                let file = scratch.file("x/heliograph/relays.json")
                let known = try String(contentsOf: file, encoding: .utf8)
                let other = String(repeating: "AB:", count: 31) + "AB"
                try Data(known.replacing(/[0-9A-F]{2}(:[0-9A-F]{2}){31}/, with: other).utf8).write(to: file)
                let refused = try await heliograph("echo 123456 | heliograph pair", of: url, home: "x")
                #expect(refused.status == 1 && refused.errors.contains("trust remove"), "\(refused)")
            }
        )
    }
}
