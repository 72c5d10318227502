import Access
import ArgumentParser
import FoundationEssentials

struct ListKeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists the keys, one a line.")

    @OptionGroup var options: KeyFileOptions

    func run() async throws {
        try await CommandError.reporting {
            let file = try options.file()
            let ring = try CommandError.reporting { () throws(KeyFileError) in try file.read() }
            for key in ring?.keys ?? [] {
                print("\(key.name)\t\(key.role.rawValue)\t\(key.created.formatted(.iso8601))")
            }
        }
    }
}
