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

        var gamepad: GamepadKind? { GamepadKind(rawValue: rawValue) }
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
                let pad = try GamepadRelay(device, as: type.gamepad)
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
    private let descriptor: Int32
    private let device: Mutex<EvdevDevice>
    private let kind: GamepadKind?
    /// What is pressed and moved at first.
    private let first: GamepadState
    /// The gamepad that the device has, by the relay's last word; `nil` before the first.
    private let seen = Mutex<GamepadKind??>(nil)

    init(_ device: EvdevDevice, as kind: GamepadKind?) throws(CommandError) {
        var device = device
        guard let pad = device.current() else { throw Self.gone(device.path) }
        descriptor = device.descriptor
        self.device = Mutex(device)
        (self.kind, first) = (kind, pad)
    }

    /// Gives the gamepad to the device, which has it as long as the connection lasts.
    func run(on live: LiveSession) async throws {
        let link = GamepadLink(to: live, as: kind)
        link.update(first)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await self.read(for: link) }
            group.addTask { try await link.run() }
            defer { group.cancelAll() }
            _ = try await group.next()
        }
    }

    private static func gone(_ path: String) -> CommandError { .failed("\(path) is gone: is the gamepad still on?") }

    /// Reads the gamepad's events.
    private func read(for link: GamepadLink) async throws {
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
                    for event in InputEvent.take(from: &bytes) { take(event, for: link) }
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

    private func take(_ event: InputEvent, for link: GamepadLink) {
        let newest = device.withLock { device -> GamepadState? in
            switch device.take(event) {
            case .nothing: nil
            case .state(let state): state
            case .lost: device.current()
            }
        }
        if let newest { link.update(newest) }
    }

    /// Says what the device has. A gamepad that was there once returns with its agent.
    func heard(_ status: GamepadStatus) throws {
        let (isNew, isFirst) = seen.withLock { seen in
            defer { seen = .some(status.kind) }
            return (seen != .some(status.kind), seen == nil)
        }
        guard isNew else { return }
        guard let kind = status.kind else {
            let why = status.problem ?? "it gives no reason"
            if isFirst { throw CommandError.failed("the device has no gamepad: \(why)") }
            fputs("heliograph: the device has no gamepad: \(why)\n", stderr)
            return
        }
        let pad = device.withLock { "\($0.name) (\($0.path))" }
        fputs("heliograph: the device has \(pad) as \(kind == .xbox ? "an Xbox 360 pad" : "a DualSense")\n", stderr)
    }
}
