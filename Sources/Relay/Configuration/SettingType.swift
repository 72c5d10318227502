import HeliographAPI
import NIOCore

/// The values that a setting takes, and how they are read and written.
struct SettingType<Value: Equatable & Sendable>: Sendable {
    /// The type and the range, in Markdown.
    let range: String
    /// How a flag passes the value; `nil` if there is no flag.
    var argument: SettingFlag.Argument?
    /// The placeholder for a value in the help.
    var valueName = ""
    /// Whether the flag's help spells out the range.
    var spellsRange = false
    /// The member of an object that the setting's flag sets.
    var member: String?
    /// The flags for further members.
    var otherFlags: [SettingFlag] = []
    /// Writes a value as in the reference; `nil` for a value without text.
    var text: @Sendable (Value) -> String? = { "\($0)" }
    /// Reads the field with this name. Returns `nil` if the field is absent, or if it is wrong after noting the issue.
    let read: @Sendable (inout ObjectReader, String) -> Value?

    func flags(of name: String, summary: String, default standard: String?) -> [SettingFlag] {
        guard let argument else { return [] }
        var help = summary
        if spellsRange { help += " One of \(range)." }
        // The default of a flag without an argument is that it is absent.
        if let standard, argument != .nothing { help += " Default: \(standard.replacing("`", with: ""))." }
        return [SettingFlag(name, member: member, argument, valueName, help)] + otherFlags
    }
}

extension SettingType<Int> {
    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(range: "integer, \(range.lowerBound) to \(range.upperBound)", argument: .integer, valueName: "n") {
            $0.integer($1, in: range)
        }
    }

    /// A number of bytes.
    static func mebibytes(_ range: ClosedRange<Int>) -> Self {
        let type = integer(range)
        return Self(range: type.range, argument: .integer, valueName: "MiB", text: { "\($0 >> 20)" }) { reader, name in
            type.read(&reader, name).map { $0 << 20 }
        }
    }

    /// A TCP port that needs no privilege, or 0.
    static var port: Self {
        Self(range: "integer, 0 or 1024 to 65535", argument: .integer, valueName: "port") { reader, name in
            reader.integer(name, in: [0...0, 1024...65535])
        }
    }
}

extension SettingType<TimeAmount> {
    static func seconds(_ range: ClosedRange<Double>) -> Self {
        Self(
            range: "number, \(decimal(range.lowerBound)) to \(decimal(range.upperBound))",
            argument: .number,
            valueName: "s",
            text: { decimal($0.seconds) }
        ) { reader, name in
            reader.number(name, in: range).map { TimeAmount(seconds: $0) }
        }
    }

    /// Returns the number without a fraction if it is whole.
    private static func decimal(_ number: Double) -> String {
        let text = "\(number)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension SettingType<TimeAmount?> {
    /// Seconds; 0 means `nil`.
    static func optionalSeconds(_ range: ClosedRange<Double>) -> Self {
        let type = SettingType<TimeAmount>.seconds(range)
        return Self(range: type.range, argument: .number, valueName: "s", text: { $0.flatMap(type.text) }) {
            type.read(&$0, $1).map { $0 == .zero ? nil : $0 }
        }
    }
}

extension SettingType<String?> {
    static var path: Self {
        Self(range: "path", argument: .text, valueName: "path", text: { $0 }) { reader, name in
            reader.path(name).map(Optional.some)
        }
    }

    /// A path, or `none` for `nil`.
    static var pathOrNone: Self {
        Self(range: "path or `none`", argument: .text, valueName: "path", text: { $0 }) { reader, name in
            reader.path(name).map { $0 == "none" ? nil : $0 }
        }
    }

    static var absolutePath: Self {
        Self(range: "absolute path", text: { $0 }) { reader, name in
            guard let path = reader.path(name) else { return nil }
            guard !path.hasPrefix("/") else { return path }
            reader.note(.outOfRange, name, "is \(path); allowed: absolute paths")
            return nil
        }
    }
}

extension ObjectReader {
    /// Longest path, in characters.
    private static let longestPath = 4096

    mutating func path(_ name: String) -> String? { string(name, length: 1...Self.longestPath) }
}

extension SettingType<[String]?> {
    /// A list of strings with a number of elements in `count` and of characters in `length`.
    static func strings(count: ClosedRange<Int>, length: ClosedRange<Int>) -> Self {
        Self(range: "array of \(count.lowerBound) to \(count.upperBound) strings", text: { $0?.description }) {
            $0.strings($1, count: count, length: length).map(Optional.some)
        }
    }
}

extension SettingType<Bool> {
    static var bool: Self { Self(range: "boolean", argument: .nothing) { $0.bool($1) } }
}

extension SettingType where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// One of the words of an enumeration.
    static func word(_ valueName: String) -> Self {
        let all = Value.allCases.map(\.rawValue)
        let words = all.joined(separator: ", ")
        return Self(
            range: words,
            argument: .text,
            valueName: valueName,
            spellsRange: true,
            text: { $0.rawValue }
        ) { reader, name in
            reader.word(name, oneOf: words, near: all, parse: Value.init(rawValue:))
        }
    }
}
