import ArgumentParser
import CommandSupport
import HeliographAPI

struct ResizeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resize",
        abstract: "Gives the desktop's monitor another size.",
        discussion: """
            That works with a monitor without hardware: a headless output of sway, or the virtual monitor of source
            mutter with a size. Sessions that follow the source get the size, too. To scale one session's pictures
            instead:
            heliograph session set NAME --width 640
              heliograph resize 1280x720
            """
    )

    @Argument(
        help: ArgumentHelp("The size, 16 to 8192 pixels on each side, rounded down to even.", valueName: "widthxheight")
    )
    var size: String

    @OptionGroup var target: ActionTarget

    private var sides: [Int] {
        let parts = size.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        return parts.contains(nil) ? [] : parts.compactMap(\.self)
    }

    func validate() throws {
        guard sides.count == 2, sides.allSatisfy((16...8192).contains) else {
            throw ValidationError("'\(size)' is not a size: use two numbers from 16 to 8192, such as 1280x720.")
        }
    }

    func run() async throws {
        try await target.perform("resize", ["width": .integer(sides[0]), "height": .integer(sides[1])])
    }
}
