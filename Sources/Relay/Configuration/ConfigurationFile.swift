import Access
import Files
import HeliographAPI
import SystemPackage

/// Reads the configuration file. docs/reference/configuration.md describes it.
package enum ConfigurationFile {
    /// Longest file, bytes.
    package static let maximumSize = 1 << 20

    /// Reads the settings from the file at `path`.
    package static func settings(at path: String) throws(ConfigurationError) -> RelaySettings {
        try settings(in: try text(at: path), path: path)
    }

    /// Reads the settings from `text`, the contents of the file at `path`.
    package static func settings(in text: String, path: String) throws(ConfigurationError) -> RelaySettings {
        let document: YAMLDocument
        do {
            document = try YAMLDocument(parsing: text)
        } catch {
            throw ConfigurationError(path: path, faults: [error])
        }
        let members: [JSONValue.Member]
        switch document.root {
        case .object(let found): members = found
        case .null: members = []
        case let other:
            let statement = "the file is \(other.kind); an object is expected, such as http: 127.0.0.1:8420"
            throw ConfigurationError(path: path, faults: [.init(mark: .init(line: 1, column: 1), statement: statement)])
        }
        var faults = document.faults
        do throws(FieldIssues) {
            var settings = try ObjectReader.read(members) { RelaySettings(&$0) }
            for member in members {
                settings.places[member.name] = document.mark(of: [member.name]).map {
                    "\(path):\($0.line):\($0.column)"
                }
            }
            if faults.isEmpty { return settings }
        } catch {
            faults += error.all.map { .init(mark: document.mark(of: $0), statement: $0.description) }
        }
        throw ConfigurationError(path: path, faults: faults)
    }

    private static func text(at path: String) throws(ConfigurationError) -> String {
        let bytes: [UInt8]
        do {
            bytes = try BoundedFile.read(FilePath(path), atMost: maximumSize)
        } catch Errno.fileTooLarge {
            throw ConfigurationError(path: path, "the configuration file is longer than \(maximumSize) bytes")
        } catch {
            throw ConfigurationError(path: path, "the configuration file cannot be read: \(error)")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ConfigurationError(path: path, "the configuration file is not UTF-8")
        }
        return text
    }
}

/// All errors of a configuration file, or of the environment.
package struct ConfigurationError: Error, Equatable, CustomStringConvertible {
    /// The errors in file order, as `FILE:LINE:COLUMN: what is wrong, and what is allowed`, or `VARIABLE: …`.
    package let lines: [String]

    init(path: String, faults: [YAMLDocument.Fault]) {
        lines = faults.sorted { $0.mark < $1.mark }.map { "\(path):\($0.mark.line):\($0.mark.column): \($0.statement)" }
    }

    /// Creates an error about the environment, with lines like `VARIABLE: what is wrong, and what is allowed`.
    init(lines: [String]) { self.lines = lines }

    /// Creates an error about the whole file.
    init(path: String, _ statement: String) { lines = ["\(path): \(statement)"] }

    package var description: String { lines.joined(separator: "\n") }
}
