import ArgumentParser
import HeliographAPI

struct ClickCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "click",
        abstract: "Clicks at a place on the screen.",
        discussion: """
            Places are pixels of a snapshot of the session; a whole number is the middle of its pixel. The command ends when the desktop has
            taken the click, and says with --json when that was.
              heliograph click 500,320
              heliograph click 500,320 --count 2 --device left
              heliograph click 500,320 --button right
            """
    )

    @Argument(help: "Where: x,y.", transform: ScreenPlace.init(_:))
    var place: ScreenPlace

    @Option(help: "The mouse button.")
    var button = ActionsRequest.MouseButton.left

    @Option(help: ArgumentHelp("How many clicks, 1 to 10.", valueName: "n"))
    var count = 1

    @OptionGroup var target: ActionTarget

    func validate() throws {
        guard (1...10).contains(count) else { throw ValidationError("--count is \(count). Allowed: 1 to 10.") }
    }

    func run() async throws {
        var members = place.members
        if button != .left { members.append(.init(name: "button", value: .string(button.rawValue))) }
        if count != 1 { members.append(.init(name: "count", value: .integer(count))) }
        try await target.perform("click", .object(members))
    }
}

struct TapCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tap",
        abstract: "Taps on the screen with a finger.",
        discussion: """
            Places are pixels of a snapshot of the session. Needs a desktop whose `input` has touch: see
            `heliograph status --json`.
            """
    )

    @Argument(help: "Where: x,y.", transform: ScreenPlace.init(_:))
    var place: ScreenPlace

    @OptionGroup var target: ActionTarget

    func run() async throws { try await target.perform("tap", .object(place.members)) }
}

/// The arguments of a movement from one place to another.
struct MovementArguments: ParsableArguments {
    @Argument(help: "Where it begins: x,y.", transform: ScreenPlace.init(_:))
    var from: ScreenPlace

    @Argument(help: "Where it ends: x,y.", transform: ScreenPlace.init(_:))
    var to: ScreenPlace

    @Option(help: ArgumentHelp("How long it takes, 0 to 60.", valueName: "s"))
    var duration = 0.3

    func validate() throws {
        guard (0...ActionsRequest.longestStroke).contains(duration) else {
            throw ValidationError("--duration is \(duration). Allowed: 0 to 60 s.")
        }
    }

    var json: JSONValue {
        ["from": from.array, "to": to.array, "duration": ScreenPlace.json(duration)]
    }
}

struct DragCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drag",
        abstract: "Drags from one place to another, with the left mouse button held.",
        discussion: """
            Places are pixels of a snapshot of the session.
              heliograph drag 100,300 600,300
            """
    )

    @OptionGroup var movement: MovementArguments
    @OptionGroup var target: ActionTarget

    func run() async throws { try await target.perform("drag", movement.json) }
}

struct SwipeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swipe",
        abstract: "Swipes over the screen with a finger.",
        discussion: """
            Places are pixels of a snapshot of the session. Needs a desktop whose `input` has touch: see
            `heliograph status --json`. `heliograph drag` does the same with the mouse.
              heliograph swipe 640,600 640,100 --duration 0.2
            """
    )

    @OptionGroup var movement: MovementArguments
    @OptionGroup var target: ActionTarget

    func run() async throws { try await target.perform("swipe", movement.json) }
}

struct ScrollCommand: AsyncParsableCommand {
    private static let range = 0.0...65535.0

    static let configuration = CommandConfiguration(
        commandName: "scroll",
        abstract: "Turns the mouse wheel at a place on the screen.",
        discussion: """
            Distances are pixels. A desktop without smooth scrolling turns one notch for each 120, and at least one.
              heliograph scroll 640,360 --down 360
            """
    )

    @Argument(help: "Where: x,y in pixels of a snapshot of the session.", transform: ScreenPlace.init(_:))
    var place: ScreenPlace

    @Option(help: ArgumentHelp("How far down.", valueName: "pixels"))
    var down: Double?

    @Option(help: ArgumentHelp("How far up.", valueName: "pixels"))
    var up: Double?

    @Option(help: ArgumentHelp("How far to the left.", valueName: "pixels"))
    var left: Double?

    @Option(help: ArgumentHelp("How far to the right.", valueName: "pixels"))
    var right: Double?

    @OptionGroup var target: ActionTarget

    func validate() throws {
        let distances = [("down", down), ("up", up), ("left", left), ("right", right)]
        guard distances.contains(where: { $0.1 != nil }) else {
            throw ValidationError("Give a distance: --down, --up, --left or --right.")
        }
        guard down == nil || up == nil, left == nil || right == nil else {
            throw ValidationError("--down and --up do not go together, and neither do --left and --right.")
        }
        for case (let name, let distance?) in distances where !Self.range.contains(distance) {
            throw ValidationError("--\(name) is \(distance). Allowed: 0 to 65535.")
        }
    }

    func run() async throws {
        let dx = right ?? left.map { -$0 } ?? 0
        let dy = down ?? up.map { -$0 } ?? 0
        let distances: [JSONValue.Member] = [
            .init(name: "dx", value: ScreenPlace.json(dx)), .init(name: "dy", value: ScreenPlace.json(dy)),
        ]
        try await target.perform("scroll", .object(place.members + distances))
    }
}
