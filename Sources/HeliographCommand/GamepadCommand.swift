import ArgumentParser
import CInput
import CommandSupport
import Gamepads
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import NIOCore
import NIOPosix
import Synchronization
import Wire

struct GamepadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gamepad",
        abstract: "Gives a device a gamepad of this machine, until Ctrl-C.",
        discussion: """
            The device's desktop sees an Xbox 360 pad or a DualSense. Its agent needs /dev/uinput or /dev/uhid: `heliograph
            doctor` says what is missing. Rumble and lights stay on the other machine: only the web page and your own
            programs play them.
              heliograph gamepad
              heliograph gamepad --device left --type dualsense --input /dev/input/event7
            """
    )

    /// What the device gets.
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case any, xbox, dualsense

        var type: GamepadType? { GamepadType(name: rawValue) }
    }

    @Option(help: "What the desktop gets: xbox, dualsense, or any of them.")
    var type = Kind.any

    @Option(
        help: ArgumentHelp("The gamepad's device node. Default: the only gamepad of this machine.", valueName: "path"),
        completion: .file()
    )
    var input: String?

    @Flag(help: "Lets other programs of this machine see the gamepad's events, too.")
    var shared = false

    @OptionGroup var target: ControlTarget

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await CommandError.reporting {
            let device = try chosenDevice()
            do {
                if !shared { try device.grab() }
                let pad = try GamepadRelay(device, as: type.type)
                try await target.control(heard: pad.heard) { try await pad.run(on: $0) }
            } catch {
                close(device.descriptor)
                throw error
            }
            close(device.descriptor)
        }
    }

    private func chosenDevice() throws(CommandError) -> EvdevDevice {
        if let input { return try EvdevDevice(path: input) }
        let (gamepads, unreadable) = EvdevDevice.all()
        guard gamepads.count != 1 else { return gamepads[0] }
        for gamepad in gamepads { close(gamepad.descriptor) }
        guard gamepads.isEmpty else {
            let list = gamepads.map { "\n  \($0.path)  \($0.name)" }.joined()
            throw .failed("this machine has several gamepads. Give one by --input:\(list)")
        }
        let hint =
            unreadable == 0
            ? "" : ". Your user may not read \(unreadable) input devices: add it to the group input, and log in again"
        throw .failed("this machine has no gamepad\(hint)")
    }
}

/// A gamepad of this machine on its way to a device.
private final class GamepadRelay: Sendable {
    private struct State: Sendable {
        var pad: GamepadState
        /// The gamepad that the device has, by the relay's last word; `nil` before the first.
        var seen: String??
    }

    /// Between two states that are sent. The relay takes 250 messages a second.
    private static let interval = Duration.milliseconds(8)
    /// Between two signs of life. The agent releases everything after 2 s without one.
    private static let beat = Duration.milliseconds(500)

    private let descriptor: Int32
    private let device: Mutex<EvdevDevice>
    private let type: GamepadType?
    private let state: Mutex<State>

    init(_ device: EvdevDevice, as type: GamepadType?) throws(CommandError) {
        var device = device
        guard let pad = device.current() else { throw Self.gone(device.path) }
        descriptor = device.descriptor
        self.device = Mutex(device)
        self.type = type
        state = Mutex(State(pad: pad))
    }

    /// Gives the gamepad to the device, which has it as long as the connection lasts.
    func run(on live: LiveSession) async throws {
        try await live.send(message: GamepadMessage.connect(type).bytes)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.read() }
            group.addTask { try await self.send(on: live) }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    /// Takes an event of the relay.
    func heard(_ event: JSONValue) throws {
        if event["type"] == "gamepad" { try gamepadChanged(event) }
    }

    private static func gone(_ path: String) -> CommandError { .failed("\(path) is gone: is the gamepad still on?") }

    /// Reads the gamepad's events.
    private func read() async throws {
        let path = device.withLock { $0.path }
        // The channel closes its descriptor.
        let copy = dup(descriptor)
        guard copy >= 0 else { throw Self.gone(path) }
        let channel = try await NIOPipeBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .takingOwnershipOfDescriptor(input: copy) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, Never>(wrappingChannelSynchronously: channel)
                }
            }
        do {
            try await channel.executeThenClose { inbound in
                var bytes: [UInt8] = []
                for try await buffer in inbound {
                    bytes += buffer.readableBytesView
                    for event in InputEvent.take(from: &bytes) { take(event) }
                }
            }
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw Self.gone(path)
        }
        try Task.checkCancellation()
        throw Self.gone(path)
    }

    private func take(_ event: InputEvent) {
        let newest = device.withLock { device -> GamepadState? in
            switch device.take(event) {
            case .nothing: nil
            case .state(let state): state
            case .lost: device.current()
            }
        }
        if let newest { state.withLock { $0.pad = newest } }
    }

    /// Sends states: the newest one only, and each half second the same again.
    private func send(on live: LiveSession) async throws {
        var sent: (state: GamepadState, at: ContinuousClock.Instant)?
        while true {
            try await Task.sleep(for: Self.interval)
            let (pad, now) = (state.withLock { $0.pad }, ContinuousClock.now)
            if let sent, sent.state == pad, now - sent.at < Self.beat { continue }
            try await live.send(message: GamepadMessage.state(pad).bytes)
            sent = (pad, now)
        }
    }

    /// Returns what an event says for people.
    private static func text(_ value: JSONValue?) -> String {
        if case .string(let text)? = value { text } else { "it gives no reason" }
    }

    /// Says what the device has. A gamepad that was there once returns with its agent.
    private func gamepadChanged(_ event: JSONValue) throws {
        var name: String?
        if case .string(let text)? = event["gamepad"] { name = text }
        let (isNew, isFirst) = state.withLock { state in
            defer { state.seen = .some(name) }
            return (state.seen != .some(name), state.seen == nil)
        }
        guard isNew else { return }
        guard let name else {
            let why = Self.text(event["detail"])
            if isFirst { throw CommandError.failed("the device has no gamepad: \(why)") }
            fputs("heliograph: the device has no gamepad: \(why)\n", stderr)
            return
        }
        let pad = device.withLock { "\($0.name) (\($0.path))" }
        fputs("heliograph: the device has \(pad) as \(name == "xbox" ? "an Xbox 360 pad" : "a DualSense")\n", stderr)
    }
}
