import ArgumentParser

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Makes, lists and revokes the API keys of relays on this machine.",
        discussion: """
            A relay takes notice at once, without a restart:
              heliograph keys make ci --role operator --output ci.key
              HELIOGRAPH_KEY_FILE=ci.key heliograph status
              heliograph keys revoke ci
            The first key turns access control on. The file holds the keys' hashes: a key is to be seen once, when it is made.
            """,
        subcommands: [MakeKeyCommand.self, ListKeysCommand.self, RevokeKeyCommand.self]
    )
}
