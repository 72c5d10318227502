import Access
import ArgumentParser
import FoundationEssentials
import SystemPackage

/// The API key that this command sends. It comes from the environment or a file, because a command line would show it
/// to every user of the machine.
struct CallerKey: ParsableArguments {
    private static let fileEnvironmentKey = "HELIOGRAPH_KEY_FILE"
    /// Most bytes that are read of a key's file.
    private static let maximumLength = 4096
    /// The permissions of all others than the user.
    private static let othersPermissions: FilePermissions = [.groupReadWriteExecute, .otherReadWriteExecute]

    @Option(
        help: ArgumentHelp(
            "A file with the key for the relay, for its user alone (chmod 600). Default: HELIOGRAPH_KEY from the environment, "
                + "else the file that HELIOGRAPH_KEY_FILE names.",
            valueName: "path"
        )
    )
    var keyFile: String?

    /// Returns the key; `nil` if none is given, because the relay may not need one.
    func key() throws(CommandError) -> APIKey? {
        if let key = try keyOfCommandLine() { return key }
        let environment = ProcessInfo.processInfo.environment
        if let text = environment[APIKey.environmentKey] { return try Self.key(text, from: APIKey.environmentKey) }
        return try environment[Self.fileEnvironmentKey].map(Self.key(at:))
    }

    /// Returns the key of ``keyFile``; `nil` if the option is not given.
    func keyOfCommandLine() throws(CommandError) -> APIKey? {
        try keyFile.map(Self.key(at:))
    }

    private static func key(at path: String) throws(CommandError) -> APIKey {
        try key(try text(at: path), from: path)
    }

    private static func key(_ text: String, from source: String) throws(CommandError) -> APIKey {
        let lines = text.split { $0.isWhitespace }
        guard lines.count == 1, let key = APIKey(lines[0]) else { throw .failed("there is no key in \(source)") }
        return key
    }

    private static func text(at path: String) throws(CommandError) -> String {
        do {
            guard try FilePath(path).stat().permissions.isDisjoint(with: othersPermissions) else {
                throw CommandError.failed("the key file \(path) is open to others: chmod 600 it")
            }
            let file = try SystemPackage.FileDescriptor.open(FilePath(path), .readOnly)
            var bytes = [UInt8](repeating: 0, count: maximumLength)
            let count = try file.closeAfter { try bytes.withUnsafeMutableBytes { try file.read(into: $0) } }
            return String(decoding: bytes[..<count], as: UTF8.self)
        } catch let error as CommandError {
            throw error
        } catch {
            throw .failed("cannot read the key file \(path): \(error)")
        }
    }
}
