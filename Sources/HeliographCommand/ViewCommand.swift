import ArgumentParser
import CommandSupport
import FoundationEssentials
import Glibc

/// Runs the viewer, which is a program of its own: its libraries for windows and decoding are not for servers.
struct ViewCommand: AsyncParsableCommand {
    private static let program = "heliograph-view"

    static let configuration = CommandConfiguration(
        commandName: "view",
        abstract: "Shows sessions in a window, or in the terminal.",
        discussion: """
            It takes the arguments of heliograph-view, which is a package of its own.
              heliograph view
              heliograph view --device left --device right
              heliograph view --help
            """
    )

    @Argument(parsing: .captureForPassthrough, help: ArgumentHelp("Those of heliograph-view.", valueName: "arguments"))
    var arguments: [String] = []

    func run() async throws {
        try await CommandError.reporting {
            let words = [Self.program] + arguments
            var pointers = words.map { strdup($0) } + [nil]
            // The one of the same build, if it is beside this program.
            if let beside = Self.folder.map({ $0 + "/" + Self.program }) { execv(beside, &pointers) }
            execvp(Self.program, &pointers)
            throw CommandError.failed(
                "cannot run \(Self.program): \(String(cString: strerror(errno))). Install the package heliograph-view"
            )
        }
    }

    /// This program's folder.
    private static var folder: String? {
        let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return own.flatMap { path in path.lastIndex(of: "/").map { String(path[..<$0]) } }
    }
}
