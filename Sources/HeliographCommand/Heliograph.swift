import ArgumentParser
import Wire

@main
struct Heliograph: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heliograph",
        abstract: "Drives a Heliograph relay.",
        discussion: """
            A first session:
              heliograph start                          the broadcast
              heliograph watch --output screen.h264     a session of its own, until Ctrl-C
              heliograph status
              heliograph stop

            With several devices: `heliograph devices` lists them, and --device says which one is meant.

            Exit codes: 0 done, 1 the relay refused or failed, 64 wrong arguments, 69 no relay there.
            """,
        version: Release.current,
        subcommands: [
            StatusCommand.self, StartCommand.self, StopCommand.self, WatchCommand.self, SetCommand.self,
            DevicesCommand.self,
        ]
    )
}
