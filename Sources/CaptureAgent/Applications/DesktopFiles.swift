import Glibc
import Program

/// The desktop files that are installed for the agent's desktop.
package struct DesktopFiles: Sendable {
    /// The largest file that is read, in bytes.
    private static let largestFile = 256 << 10
    /// The most folders of an id. Each `-` in an id may stand for one.
    private static let deepestFolder = 4
    private static let longestID = 255

    private let folders: [String]

    /// - Parameter folders: The folders to search, the most important first.
    package init(folders: [String]) { self.folders = folders }

    /// The folders of XDG_DATA_HOME and XDG_DATA_DIRS (XDG Base Directory Specification).
    package init() {
        let home =
            EnvironmentVariable.value("XDG_DATA_HOME") ?? EnvironmentVariable.value("HOME").map { "\($0)/.local/share" }
        let others = EnvironmentVariable.value("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        let all = (home.map { [$0] } ?? []) + others.split(separator: ":").map(String.init)
        self.init(folders: all.filter { $0.hasPrefix("/") }.map { "\($0)/applications" })
    }

    /// Reads the desktop file with an id.
    ///
    /// - Parameter id: Its name, without or with `.desktop`. A `-` may also stand for a folder.
    package func file(_ id: String) throws(DesktopFile.Failure) -> DesktopFile {
        let name = id.hasSuffix(".desktop") ? String(id.dropLast(".desktop".count)) : id
        guard Self.isID(name) else {
            throw .init(
                reason: "an id has 1 to \(Self.longestID) letters, digits, dots, - and _, and no dot before the first"
            )
        }
        for folder in folders {
            guard let path = Self.path(of: name[...], in: folder, depth: 0) else { continue }
            guard let text = Self.read(path) else {
                throw .init(reason: "\(path) cannot be read, has more than 256 KiB, or is not UTF-8")
            }
            return try DesktopFile(text, path: path)
        }
        throw .init(reason: "no folder has it: \(folders.joined(separator: ", "))")
    }

    private static func isID(_ name: String) -> Bool {
        1...longestID ~= name.utf8.count && !name.hasPrefix(".")
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }

    /// Returns the path of a file with this name in a folder, or in a folder in it that the name begins with.
    private static func path(of name: Substring, in folder: String, depth: Int) -> String? {
        // A name that begins with a dot could lead out of the folder.
        guard !name.isEmpty, !name.hasPrefix(".") else { return nil }
        let path = "\(folder)/\(name).desktop"
        if kind(of: path) == S_IFREG { return path }
        guard depth < deepestFolder else { return nil }
        for place in name.indices where name[place] == "-" && place != name.startIndex {
            let inner = "\(folder)/\(name[..<place])"
            guard kind(of: inner) == S_IFDIR else { continue }
            if let path = Self.path(of: name[name.index(after: place)...], in: inner, depth: depth + 1) { return path }
        }
        return nil
    }

    private static func kind(of path: String) -> mode_t? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
    }

    private static func read(_ path: String) -> String? {
        // Not blocking, because the file may have become a pipe since it was found.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: largestFile + 1)
        var length = 0
        while length <= largestFile {
            let count = bytes.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress! + length, $0.count - length) }
            guard count >= 0 else { return nil }
            if count == 0 { return String(validating: bytes[..<length], as: UTF8.self) }
            length += count
        }
        return nil
    }
}
