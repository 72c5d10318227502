/// The part of a desktop file that launching an application needs (freedesktop.org, Desktop Entry Specification 1.5).
package struct DesktopFile: Sendable, Equatable {
    /// The program and its arguments.
    package let command: [String]
    /// The working directory; `nil` for any.
    package let directory: String?

    /// Why a desktop file launches nothing, for people.
    package struct Failure: Error, Equatable {
        package let reason: String
    }

    /// Parses a desktop file.
    ///
    /// - Parameter path: The file's path, for the field code `%k`.
    package init(_ text: String, path: String) throws(Failure) {
        let entry = Self.entry(in: text)
        guard entry["Type"] == "Application" else { throw Failure(reason: "it does not describe an application") }
        guard entry["Hidden"] != "true" else { throw Failure(reason: "it is hidden, as if it were deleted") }
        guard entry["Terminal"] != "true" else {
            throw Failure(reason: "its program needs a terminal; allow a terminal with this program as its argument")
        }
        guard let exec = entry["Exec"].flatMap(Self.unescaped) else { throw Failure(reason: "it has no valid Exec") }
        let name = entry["Name"].flatMap(Self.unescaped) ?? ""
        let icon = entry["Icon"].flatMap(Self.unescaped) ?? ""
        let words = try Self.words(of: exec)
        command = words.flatMap { word -> [String] in
            switch word {
            case "%i": icon.isEmpty ? [] : ["--icon", icon]
            case "%f", "%F", "%u", "%U", "%d", "%D", "%n", "%N", "%v", "%m": []
            default: [Self.expanded(word, name: name, path: path)]
            }
        }
        guard let program = command.first, !program.isEmpty else { throw Failure(reason: "its Exec is empty") }
        directory = entry["Path"].flatMap(Self.unescaped).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Returns the keys of the group `Desktop Entry`, without translations.
    private static func entry(in text: String) -> [String: String] {
        var entry: [String: String] = [:]
        var isWanted = false
        for line in text.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("[") {
                // The group is the first one; others are about further actions.
                if isWanted { break }
                isWanted = line.trimmed == "[Desktop Entry]"
            } else if isWanted, !line.hasPrefix("#"), let place = line.firstIndex(of: "=") {
                let key = line[..<place].trimmed
                if entry[key] == nil { entry[key] = line[line.index(after: place)...].trimmed }
            }
        }
        return entry
    }

    /// Resolves the escapes of a string value; `nil` if there is one that the specification lacks.
    private static func unescaped(_ value: String) -> String? {
        var text = ""
        var isEscaped = false
        for character in value {
            guard isEscaped else {
                if character == "\\" { isEscaped = true } else { text.append(character) }
                continue
            }
            isEscaped = false
            switch character {
            case "s": text.append(" ")
            case "n": text.append("\n")
            case "t": text.append("\t")
            case "r": text.append("\r")
            case "\\": text.append("\\")
            // Many files escape a quoted argument's characters once only.
            case "\"", "`", "$": text.append("\\\(character)")
            default: return nil
            }
        }
        return isEscaped ? nil : text
    }

    /// Splits a command line into words. Words may be quoted by `"`, as a whole or in part; a backslash makes the next
    /// character an ordinary one.
    private static func words(of line: String) throws(Failure) -> [String] {
        var words: [String] = []
        var word: String?
        var (isQuoted, isEscaped) = (false, false)
        for character in line {
            if isEscaped {
                // In quotes, a backslash before another character is itself.
                if isQuoted, !"\"`$\\".contains(character) { word = (word ?? "") + "\\" }
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
                word = word ?? ""
            } else if isQuoted || !character.isWhitespace {
                guard isQuoted || character != "'" else {
                    throw Failure(
                        reason: "its Exec has a single quote, which the specification allows in double quotes only"
                    )
                }
                word = (word ?? "") + String(character)
            } else if let finished = word {
                words.append(finished)
                word = nil
            }
        }
        guard !isQuoted, !isEscaped else { throw Failure(reason: "its Exec ends within a quoted argument") }
        return words + (word.map { [$0] } ?? [])
    }

    /// Replaces the field codes in a word. Files and URLs are none.
    private static func expanded(_ word: String, name: String, path: String) -> String {
        var text = ""
        var isCode = false
        for character in word {
            guard isCode else {
                if character == "%" { isCode = true } else { text.append(character) }
                continue
            }
            isCode = false
            switch character {
            case "%": text.append("%")
            case "c": text.append(name)
            case "k": text.append(path)
            case "f", "F", "u", "U", "i", "d", "D", "n", "N", "v", "m": break
            default: text.append("%\(character)")
            }
        }
        return isCode ? text + "%" : text
    }
}

extension Substring {
    /// The text without white space at its ends.
    fileprivate var trimmed: String {
        let start = drop(while: \.isWhitespace)
        guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...end])
    }
}
