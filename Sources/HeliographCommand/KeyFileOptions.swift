import Access
import ArgumentParser
import FoundationEssentials

/// Which relays' keys.
struct KeyFileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The relay's --keys-file. Default: $XDG_STATE_HOME/heliograph/keys.json of this user.",
            valueName: "path"
        )
    )
    var keysFile: String?

    func file() throws(CommandError) -> KeyFile {
        guard let path = keysFile ?? KeyFile.usualPath(in: ProcessInfo.processInfo.environment) else {
            throw .failed("there is no home directory: say where the keys are with --keys-file")
        }
        return KeyFile(path: path)
    }
}

extension CommandError {
    /// Runs `body`: what is wrong with the key file becomes this command's error.
    static func reporting<Value>(_ body: () throws(KeyFileError) -> Value) throws(CommandError) -> Value {
        do {
            return try body()
        } catch {
            throw .failed("\(error)")
        }
    }
}
