import FoundationEssentials
import HeliographAPI
import Program
import Wire

extension SettingType<Endpoint> {
    static var endpoint: Self {
        Self(range: "host:port", argument: .text, valueName: "host:port") { reader, name in
            let words = "an address with a port, such as 127.0.0.1:8420 or [::]:8420"
            return reader.word(name, oneOf: words, parse: Endpoint.init(_:))
        }
    }

    static var loopback: Self {
        Self(range: "loopback host:port", argument: .text, valueName: "host:port") { reader, name in
            let words = "127.0.0.1, ::1 in brackets or localhost with a port, such as 127.0.0.1:8420"
            return reader.word(name, oneOf: words) { text in Endpoint(text).flatMap { $0.isLoopback ? $0 : nil } }
        }
    }
}

extension SettingType<TLSSettings> {
    /// `none`, `self-signed`, or the two files.
    static var tls: Self {
        Self(
            range: "`none`, `self-signed`, or an object: certificate, key, paths",
            argument: .text,
            valueName: "kind",
            otherFlags: [
                SettingFlag(
                    "tlsCertificate",
                    member: "certificate",
                    .text,
                    "path",
                    "The certificate in PEM, and its chain."
                ),
                SettingFlag("tlsKey", member: "key", .text, "path", "The certificate's private key in PEM."),
            ],
            text: { $0 == .none ? "`none`" : nil }
        ) { reader, name in
            guard !reader.isString(name) else {
                return reader.word(
                    name,
                    oneOf: "none, self-signed, or an object with certificate and key",
                    near: ["none", "self-signed"]
                ) { text in
                    ["none": TLSSettings.none, "self-signed": .selfSigned][text]
                }
            }
            return reader.object(name) { reader in
                reader.require("certificate", "key")
                let (certificate, key) = (reader.path("certificate"), reader.path("key"))
                reader.finish()
                guard let certificate, let key else { return nil }
                return .files(certificate: certificate, key: key)
            }
        }
    }
}

extension SettingType<[UInt32]> {
    /// Most additional users that may run agents.
    private static var maximumUsers: Int { 100 }

    /// Users of this machine by name or number; the value holds their ids.
    static var users: Self {
        Self(
            range: "array of up to \(maximumUsers) strings",
            argument: .list,
            valueName: "users",
            text: { _ in nil }
        ) { reader, name in
            guard let users = reader.strings(name, count: 0...maximumUsers, length: 1...100) else { return nil }
            let ids = users.compactMap(UserName.id(of:))
            guard ids.count < users.count else { return ids }
            for user in users where UserName.id(of: user) == nil {
                reader.note(.unknownValue, name, "has \"\(user)\"; allowed: names and numbers of this machine's users")
            }
            return nil
        }
    }
}

extension SettingType<[String]> {
    /// Most origins.
    private static var maximumOrigins: Int { 20 }

    /// Origins of web pages (RFC 6454): a scheme, a host and a port.
    static var origins: Self {
        Self(
            range: "array of up to \(maximumOrigins) strings",
            argument: .list,
            valueName: "origins",
            text: { _ in "none" }
        ) { reader, name in
            let origins = reader.strings(name, count: 0...maximumOrigins, length: 1...300)?.map { $0.lowercased() }
            if let other = origins?.first(where: { !$0.isOrigin }) {
                let allowed = "http:// or https://, a host, and its port unless that is 80 or 443; no path and no *"
                reader.note(.outOfRange, name, "has \"\(other)\"; allowed: \(allowed)")
                return nil
            }
            return origins
        }
    }
}

extension String {
    fileprivate var isOrigin: Bool {
        guard let url = URL(string: self), let scheme = url.scheme,
            let ownPort = ["http": 80, "https": 443][scheme], let host = url.host(), !host.isEmpty,
            (1...65535).contains(url.port ?? ownPort), url.port != ownPort
        else { return false }
        let address = host.trimmingPrefix("[").prefix { $0 != "]" }
        let isAddress = address.contains(":") && address.allSatisfy { $0.isHexDigit || ":.".contains($0) }
        let isName = host.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) }
        guard isAddress || isName else { return false }
        return self == "\(scheme)://\(isAddress ? "[\(address)]" : host)\(url.port.map { ":\($0)" } ?? "")"
    }
}

extension SettingType<SourceRequest> {
    static var source: Self {
        Self(
            range: "object",
            argument: .text,
            valueName: "kind",
            member: "kind",
            otherFlags: [
                SettingFlag(
                    "node",
                    member: "node",
                    .text,
                    "name",
                    "With --source node: its PipeWire name, serial or id."
                )
            ],
            text: { "kind `\($0.kind.rawValue)`" }
        ) { reader, name in
            reader.model(name, SourceRequest.self)
        }
    }
}

extension SettingType<Fallback?> {
    static var fallback: Self {
        Self(range: "string or object", argument: .text, valueName: "kind", text: { _ in nil }) { reader, name in
            fallback(name, &reader).map(Optional.some)
        }
    }

    /// Reads a source as an object or as its kind alone, or `none`.
    private static func fallback(_ name: String, _ reader: inout ObjectReader) -> Fallback? {
        guard reader.isString(name) else { return reader.model(name, SourceRequest.self).map(Fallback.source) }
        return reader.word(
            name,
            oneOf: "none, \(SourceKind.words), or an object as for source",
            near: ["none"] + SourceKind.allCases.map(\.rawValue)
        ) { text in
            if text == "none" { return .nothing }
            // A node needs a name, so the kind alone is not enough.
            return SourceKind(rawValue: text).flatMap { $0 == .node ? nil : .source(SourceRequest(kind: $0)) }
        }
    }
}

extension SettingType<SoundChoice> {
    static var sound: Self {
        Self(
            range: SoundChoice.words,
            argument: .text,
            valueName: "choice",
            spellsRange: true
        ) { reader, name in
            reader.word(
                name,
                oneOf: SoundChoice.words,
                near: ["off", "desktop", "virtual", "sink:", "node:", "application:"],
                parse: SoundChoice.init(_:)
            )
        }
    }
}

extension SettingType<TunnelChoice> {
    static var tunnel: Self {
        Self(
            range: TunnelChoice.words,
            argument: .text,
            valueName: "choice",
            spellsRange: true,
            text: { $0 == .none ? "`none`" : nil }
        ) { reader, name in
            reader.word(
                name,
                oneOf: TunnelChoice.words,
                near: ["none", "quick", "named:"],
                parse: TunnelChoice.init(_:)
            )
        }
    }
}

extension SettingType<SoundCoding.PacketDuration> {
    static var packetDuration: Self {
        let words = SoundCoding.PacketDuration.allCases.map(\.rawValue).joined(separator: ", ")
        return Self(
            range: words,
            argument: .number,
            valueName: "ms",
            spellsRange: true,
            text: { $0.rawValue }
        ) { reader, name in
            guard let number = reader.number(name, in: 2.5...60) else { return nil }
            let text = number == number.rounded() ? "\(Int(number))" : "\(number)"
            if let duration = SoundCoding.PacketDuration(rawValue: text) { return duration }
            reader.note(.outOfRange, name, "is \(text); allowed: \(words)")
            return nil
        }
    }
}

extension SettingType<[String: String]> {
    /// Longest value of an environment variable, in characters.
    private static var longestValue: Int { 32_768 }

    /// Variables by name. Error messages never show a value.
    static var environment: Self {
        Self(range: "object of strings", text: { _ in "`{}`" }) { $0.object($1, variables) }
    }

    private static func variables(_ reader: inout ObjectReader) -> [String: String] {
        var variables: [String: String] = [:]
        for name in reader.names {
            if name == LinkToken.environmentKey {
                reader.note(.unknown, name, "is set by the relay itself; use the setting linkTokenFile")
            } else if !name.isVariable {
                reader.note(.unknown, name, "is not a variable's name; allowed: letters, _ and, after them, digits")
            }
            variables[name] = reader.string(name, length: 0...longestValue)
        }
        return variables
    }
}

extension SettingType<[String: String]> {
    /// Most labels of a device.
    private static var maximumLabels: Int { 20 }

    /// Short texts by name.
    static var labels: Self {
        Self(range: "object of strings, up to \(maximumLabels) members", text: { _ in "`{}`" }) { reader, name in
            let labels = reader.object(name) { reader in
                reader.names.reduce(into: [String: String]()) { labels, name in
                    if !name.isName {
                        reader.note(.unknown, name, "is not a label's name; allowed: \(String.nameRule)")
                    }
                    labels[name] = reader.string(name, length: 1...100)
                }
            }
            guard let labels, labels.count > maximumLabels else { return labels }
            reader.note(.outOfRange, name, "has \(labels.count) labels; allowed: up to \(maximumLabels)")
            return nil
        }
    }
}

extension SettingType<[String: SessionRequest]> {
    /// Most standing sessions of a device.
    private static var maximumSessions: Int { 64 }

    /// Sessions by name.
    static var standingSessions: Self {
        Self(range: "object, up to \(maximumSessions) members", text: { _ in "`{}`" }) { reader, name in
            let sessions = reader.object(name) { reader in
                reader.names.reduce(into: [String: SessionRequest]()) { $0[$1] = session($1, &reader) }
            }
            guard let sessions, sessions.count > maximumSessions else { return sessions }
            reader.note(.outOfRange, name, "has \(sessions.count) sessions; allowed: up to \(maximumSessions)")
            return nil
        }
    }

    private static func session(_ name: String, _ reader: inout ObjectReader) -> SessionRequest? {
        if !name.isName {
            reader.note(.unknown, name, "is not a session's name; allowed: \(String.nameRule)")
        }
        let session = reader.model(name, SessionRequest.self)
        if session?.ttl != nil {
            reader.note(.outOfRange, name, "has a ttl, and would end by itself; leave it out, or set onDemand")
        }
        return session
    }
}

extension SettingType<[String: AllowedApplication]> {
    /// Most applications of a device.
    private static var maximumApplications: Int { 64 }

    /// Programs by name.
    static var applications: Self {
        Self(range: "object, up to \(maximumApplications) members", text: { _ in nil }) { reader, name in
            let listed = reader.object(name) { reader in
                reader.names.reduce(into: [String: AllowedApplication]()) { $0[$1] = application($1, &reader) }
            }
            guard let listed, listed.count > maximumApplications else { return listed }
            reader.note(.outOfRange, name, "has \(listed.count) applications; allowed: up to \(maximumApplications)")
            return nil
        }
    }

    private static func application(_ name: String, _ reader: inout ObjectReader) -> AllowedApplication? {
        if !name.isName {
            reader.note(.unknown, name, "is not an application's name; allowed: \(String.nameRule)")
        }
        return reader.object(name) { reader in
            reader.require("command")
            let command = reader.strings("command", count: 1...100, length: 0...4096)
            if let command, command.first == "" {
                reader.note(.outOfRange, "command", "begins with an empty string; a program is expected there")
            }
            let directory = SettingType<String?>.absolutePath.read(&reader, "directory") ?? nil
            let environment = SettingType<[String: String]>.environment.read(&reader, "environment")
            let takesArguments = reader.bool("arguments")
            reader.finish()
            return command.map {
                AllowedApplication(
                    command: $0,
                    directory: directory,
                    environment: environment ?? [:],
                    takesArguments: takesArguments ?? false
                )
            }
        }
    }
}

extension String {
    /// Returns whether it is a valid name of an environment variable.
    fileprivate var isVariable: Bool {
        let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_".utf8
        guard let first = utf8.first, letters.contains(first) else { return false }
        return utf8.allSatisfy { letters.contains($0) || "0123456789".utf8.contains($0) }
    }
}

extension SettingType<[WebhookSettings]> {
    /// Most webhooks of one relay.
    private static var maximumWebhooks: Int { 20 }

    static var webhooks: Self {
        Self(range: "object, up to \(maximumWebhooks) members", text: { _ in nil }) { reader, name in
            let listed = reader.object(name) { reader in
                (count: reader.names.count, webhooks: reader.names.compactMap { webhook($0, &reader) })
            }
            guard let listed, listed.count > maximumWebhooks else { return listed?.webhooks }
            reader.note(.outOfRange, name, "has \(listed.count) webhooks; allowed: up to \(maximumWebhooks)")
            return nil
        }
    }

    private static func webhook(_ name: String, _ reader: inout ObjectReader) -> WebhookSettings? {
        if !name.isName {
            reader.note(.unknown, name, "is not a webhook's name; allowed: \(String.nameRule)")
        }
        return reader.object(name) { reader in
            reader.require("url", "secretFile")
            let url = reader.string("url", length: 1...2048)
            if let url, !url.isWebhookURL {
                reader.note(
                    .outOfRange,
                    "url",
                    "is \"\(url)\"; allowed: http:// or https:// with a host, and without a user or a fragment"
                )
            }
            let secretFile = reader.path("secretFile")
            let types = reader.string("types", length: 1...300)
            let kinds = types.flatMap { EventQuery.kinds($0) }
            if let types, kinds == nil {
                reader.note(.unknownValue, "types", "is \"\(types)\"; allowed: \(EventQuery.allowedTypes)")
            }
            let device = reader.string("device", length: 1...64)
            reader.finish()
            guard let url, let secretFile else { return nil }
            return WebhookSettings(name: name, url: url, secretFile: secretFile, kinds: kinds, device: device)
        }
    }
}

extension String {
    fileprivate var isWebhookURL: Bool {
        guard let url = URL(string: self), let scheme = url.scheme, ["http", "https"].contains(scheme) else {
            return false
        }
        return url.host()?.isEmpty == false && url.user() == nil && url.fragment() == nil
    }
}

extension SettingType<[DeviceSettings]> {
    /// Most devices of one relay.
    private static var maximumDevices: Int { 64 }

    static var devices: Self {
        Self(range: "object, 1 to \(maximumDevices) members", text: { _ in nil }) { reader, name in
            let listed = reader.object(name) { reader in
                (count: reader.names.count, devices: reader.names.compactMap { device($0, &reader) })
            }
            guard let listed, !(1...maximumDevices ~= listed.count) else { return listed?.devices }
            reader.note(.outOfRange, name, "has \(listed.count) devices; allowed: 1 to \(maximumDevices)")
            return nil
        }
    }

    private static func device(_ name: String, _ reader: inout ObjectReader) -> DeviceSettings? {
        if !name.isName {
            reader.note(.unknown, name, "is not a device's name; allowed: \(String.nameRule)")
        }
        return reader.object(name) { DeviceSettings(name: name, settings: Settings(&$0)) }
    }
}
