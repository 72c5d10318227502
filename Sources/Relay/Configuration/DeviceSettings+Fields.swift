extension DeviceSettings {
    /// Reads what is said of the device `name`.
    init(name: String, _ reader: inout ObjectReader) {
        self.init(name: name)
        source = reader.object("source", SourceRequest.init)
        fallback = reader.fallback()
        agentExecutable = reader.path("agent")
        environment = reader.object("environment") { $0.environment() } ?? [:]
        stateDirectory = reader.path("stateDirectory")
        if let directory = stateDirectory, !directory.hasPrefix("/") {
            reader.note(.outOfRange, "stateDirectory", "is \(directory); allowed: absolute paths")
        }
        consentTimeout = reader.seconds("consentTimeout", in: 1...3600)
        screenshotCommand = reader.strings("screenshotCommand", count: 1...100, length: 0...4096)
        screenshotTimeout = reader.seconds("screenshotTimeout", in: 0.1...60)
        maximumSessions = reader.maximumSessions()
        maximumViewers = reader.maximumViewers()
        reader.finish()
    }
}

extension ObjectReader {
    /// Longest value of an environment variable, in characters.
    private static let longestValue = 32_768

    /// Variables by name. What is noted of them never shows a value.
    fileprivate mutating func environment() -> [String: String] {
        var environment: [String: String] = [:]
        for name in names {
            if name == LinkToken.environmentKey {
                note(.unknown, name, "is the relay's own to set; the file's linkTokenFile says where it stands")
            } else if !Self.isVariable(name) {
                note(.unknown, name, "is no variable's name; allowed: letters, digits and _, no digit first")
            }
            environment[name] = string(name, length: 0...Self.longestValue)
        }
        return environment
    }

    private static func isVariable(_ name: String) -> Bool {
        guard let first = name.utf8.first, !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= first) else { return false }
        return name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }
}
