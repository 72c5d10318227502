import ArgumentParser

struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "Starts, lists, shows, changes and stops sessions.",
        discussion: """
            A session is one encoded stream of a device. One that a script starts has a name of the script's choice:
              heliograph session start door --fps 15 --ttl 600
              heliograph snapshot door --output door.png
              heliograph session stop door
            """,
        subcommands: [
            StartSessionCommand.self, ListSessionsCommand.self, ShowSessionCommand.self, SetSessionCommand.self,
            StopSessionCommand.self,
        ]
    )
}
