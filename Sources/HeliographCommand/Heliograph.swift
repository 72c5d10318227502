import ArgumentParser
import Program
import Wire

@main
struct Heliograph: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "heliograph",
        abstract: "Drives a Heliograph relay.",
        discussion: """
            A first session:
              heliograph start                          the broadcast
              heliograph watch --output screen.mp4      a session of its own, until Ctrl-C
              heliograph status
              heliograph stop

            A session for a script:
              heliograph session start door --ttl 600   by a name of your choice
              heliograph wait door --until static
              heliograph snapshot door --output door.png
              heliograph session stop door

            Act on the screen, in pixels of a snapshot:
              heliograph click 500,320
              heliograph type "Hello"
              heliograph press ctrl+s

            Start a test from a known place:
              heliograph launch terminal --wait
              heliograph terminate terminal

            With several devices: `heliograph devices` lists them, and --device says which one is meant.

            When something does not work: heliograph doctor.

            A relay with access control wants a key: HELIOGRAPH_KEY in the environment is one, HELIOGRAPH_KEY_FILE and
            --key-file name a file with one. `heliograph keys` makes them.

            Exit codes: 0 done, 1 the relay refused or failed, 64 wrong arguments, 69 no relay there, 75 what `wait` waited for
            did not happen in time, or no source delivered pictures. `run` has those of its program.
            """,
        version: Release.current,
        subcommands: [
            StatusCommand.self, StartCommand.self, StopCommand.self, SessionCommand.self, ViewCommand.self,
            WatchCommand.self, RunCommand.self,
            SnapshotCommand.self, WaitCommand.self, TemplateCommand.self, LibraryCommand.self, ClickCommand.self,
            TapCommand.self,
            DragCommand.self, SwipeCommand.self, ScrollCommand.self, TypeCommand.self, PressCommand.self,
            ClipboardCommand.self, ResizeCommand.self, ActionsCommand.self, ReleaseCommand.self, GamepadCommand.self,
            TalkCommand.self,
            LaunchCommand.self, FocusCommand.self, TerminateCommand.self, ApplicationsCommand.self,
            KeyframeCommand.self, SetCommand.self, DevicesCommand.self, EventsCommand.self, KeysCommand.self,
            DiscoverCommand.self, PairCommand.self, TrustCommand.self, StatsCommand.self, SpeedTestCommand.self,
            DrainCommand.self, DoctorCommand.self,
        ]
    )
}
