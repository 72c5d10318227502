import Logging
import NIOCore
import Program
import Wire

extension RelaySettings {
    /// Reads the settings: those of a configuration file, or the flags under the same names.
    package init(_ reader: inout ObjectReader) {
        self.init()
        http = reader.endpoint("http")
        agentLink = reader.loopback("agentLink")
        sessionPortBase = reader.integer("sessionPortBase", in: 0...65535)
        if let base = sessionPortBase, 1...1023 ~= base {
            reader.note(.outOfRange, "sessionPortBase", "is \(base); allowed: 0, 1024 to 65535")
        }
        maximumSessions = reader.maximumSessions()
        maximumViewers = reader.maximumViewers()
        maximumConnections = reader.integer("maxConnections", in: 1...100_000)
        maximumConnectionsPerAddress = reader.integer("maxConnectionsPerAddress", in: 1...100_000)
        requestTimeout = reader.seconds("requestTimeout", in: 0.1...3600)
        idleTimeout = reader.seconds("idleTimeout", in: 0.1...3600)
        agentExecutable = reader.path("agent")
        source = reader.object("source", SourceRequest.init)
        fallback = reader.fallback()
        tls = reader.tls()
        keysFile = reader.path("keysFile")
        linkTokenFile = reader.path("linkTokenFile")
        agentUsers = reader.users("agentUsers")
        stateFile = reader.path("stateFile")
        watchdog = reader.seconds("watchdog", in: 0.1...3600)
        helloTimeout = reader.seconds("helloTimeout", in: 0.1...3600)
        agentReturnGrace = reader.seconds("agentReturnGrace", in: 0...3600)
        slateDelay = reader.seconds("slateDelay", in: 0...3600)
        viewerTimeout = reader.seconds("viewerTimeout", in: 0...3600)
        viewerMemory = reader.integer("viewerMemory", in: 1...65_536)
        portsFile = reader.path("portsFile")
        printsPorts = reader.bool("printPorts")
        let levels = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        logLevel = reader.word("logLevel", oneOf: levels, parse: Logger.Level.init(rawValue:))
        let formats = LogFormat.allCases.map(\.rawValue).joined(separator: ", ")
        logFormat = reader.word("logFormat", oneOf: formats, parse: LogFormat.init(rawValue:))
        devices = reader.devices()
        reader.finish()
    }
}

extension ObjectReader {
    /// Most devices of one relay.
    private static let maximumDevices = 64
    /// Most users beside the relay's own that may run agents.
    private static let maximumUsers = 100
    /// Longest path, in characters.
    private static let longestPath = 4096

    fileprivate mutating func devices() -> [DeviceSettings]? {
        let listed = object("devices") { reader in
            (count: reader.names.count, devices: reader.names.compactMap { reader.device(named: $0) })
        }
        if let count = listed?.count, !(1...Self.maximumDevices ~= count) {
            note(.outOfRange, "devices", "has \(count) devices; allowed: 1 to \(Self.maximumDevices)")
        }
        return listed?.devices
    }

    private mutating func device(named name: String) -> DeviceSettings? {
        if !name.isName {
            note(.unknown, name, "is no device's name; allowed: 1 to 64 letters, digits, - and _")
        }
        return object(name) { DeviceSettings(name: name, &$0) }
    }

    /// `none`, `self-signed`, or the two files.
    fileprivate mutating func tls() -> TLSSettings? {
        guard isString("tls") else {
            return object("tls") { reader in
                reader.require("certificate", "key")
                let (certificate, key) = (reader.path("certificate"), reader.path("key"))
                reader.finish()
                guard let certificate, let key else { return nil }
                return .files(certificate: certificate, key: key)
            }
        }
        return word("tls", oneOf: "none, self-signed, or an object with certificate and key") { text in
            ["none": TLSSettings.none, "self-signed": .selfSigned][text]
        }
    }

    fileprivate mutating func endpoint(_ name: String) -> Endpoint? {
        word(name, oneOf: "an address with a port, such as 127.0.0.1:8420 or [::]:8420", parse: Endpoint.init(_:))
    }

    fileprivate mutating func loopback(_ name: String) -> Endpoint? {
        word(name, oneOf: "127.0.0.1, ::1 in brackets or localhost with a port, such as 127.0.0.1:8420") { text in
            Endpoint(text).flatMap { $0.isLoopback ? $0 : nil }
        }
    }

    /// Users of this machine by name or number, as their ids.
    fileprivate mutating func users(_ name: String) -> [UInt32]? {
        guard let users = strings(name, count: 0...Self.maximumUsers, length: 1...100) else { return nil }
        for user in users where UserName.id(of: user) == nil {
            note(.unknownValue, name, "has \"\(user)\"; allowed: names and numbers of this machine's users")
        }
        return users.compactMap(UserName.id(of:))
    }

    /// A source's kind, as an object or as the word alone, or `none`.
    mutating func fallback() -> Fallback? {
        let kinds = SourceRequest.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        guard isString("fallback") else { return object("fallback", SourceRequest.init).map(Fallback.source) }
        return word("fallback", oneOf: "none, \(kinds), or an object as for source") { text in
            if text == "none" { return .nothing }
            // Which node has to be said.
            return SourceRequest.Kind(rawValue: text).flatMap { $0 == .node ? nil : .source(SourceRequest(kind: $0)) }
        }
    }

    mutating func path(_ name: String) -> String? { string(name, length: 1...Self.longestPath) }

    mutating func seconds(_ name: String, in range: ClosedRange<Double>) -> TimeAmount? {
        number(name, in: range).map { TimeAmount(seconds: $0) }
    }

    mutating func maximumSessions() -> Int? { integer("maxSessions", in: 1...1000) }

    mutating func maximumViewers() -> Int? { integer("maxViewers", in: 1...10_000) }
}
