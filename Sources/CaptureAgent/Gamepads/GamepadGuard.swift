import CLinux
import Gamepads
import Glibc
package import Wire

/// The guard of a gamepad: a process that has the device node, too, and makes the gamepad neutral if the agent hangs.
///
/// After the death of an agent, the kernel ends its gamepad. A stopped agent keeps it, with all that is pressed.
package final class GamepadGuard {
    /// How long the agent may be silent while something is held, in ns.
    package static let longestSilence: UInt64 = .milliseconds(200)
    /// The time between two signs of life while something is held, in ns.
    package static let beatInterval: UInt64 = .milliseconds(50)
    /// The descriptor of the device node in the process.
    private static let nodeDescriptor: Int32 = 3

    private let pid: pid_t
    private let socket: Int32

    /// - Parameters:
    ///   - node: The descriptor of the gamepad's open device node.
    ///   - executable: The path of `capture-agent`.
    package init(
        _ type: GamepadType,
        node: Int32,
        executable: String = "/proc/self/exe"
    ) throws(InputFailure) {
        var ends: [Int32] = [-1, -1]
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        guard socketpair(AF_UNIX, Int32(kind), 0, &ends) == 0 else { throw Self.notStarted(errno) }
        defer { Glibc.close(ends[1]) }
        var pid: pid_t = 0
        let words = [executable, "guard-gamepad", type.name]
        let result = GuardProcess.spawn(words, input: ends[1], descriptor: node, &pid)
        guard result == 0 else {
            Glibc.close(ends[0])
            throw Self.notStarted(result)
        }
        self.pid = pid
        socket = ends[0]
    }

    /// Says whether something is held. If something is, it must be said again each ``beatInterval``.
    package func tell(isHeld: Bool) throws(InputFailure) {
        var byte: UInt8 = isHeld ? 1 : 0
        guard send(socket, &byte, 1, clinux_no_signal | Int32(MSG_DONTWAIT)) == 1 || errno == EAGAIN else {
            throw .lost("The process that releases the gamepad if the agent hangs has ended.")
        }
    }

    /// Ends the process. Must be called once.
    package func close() {
        Glibc.close(socket)
        kill(pid, SIGKILL)
        while waitpid(pid, nil, 0) < 0, errno == EINTR {}
    }

    private static func notStarted(_ reason: Int32) -> InputFailure {
        .lost(
            "The process that releases the gamepad if the agent hangs cannot be started: \(String(cString: strerror(reason)))."
        )
    }

    // MARK: - The process

    /// Runs the process `capture-agent guard-gamepad` until the agent ends, whose end of the connection is standard
    /// input.
    package static func run(_ type: GamepadType) {
        // The agent ends the process, or its own end does.
        for number in [SIGTERM, SIGINT, SIGHUP, SIGPIPE] { signal(number, SIG_IGN) }
        watch(STDIN_FILENO, node: nodeDescriptor, type)
    }

    /// Makes the gamepad neutral each time the agent falls silent while something is held. Returns when it has ended.
    package static func watch(_ agent: Int32, node: Int32, _ type: GamepadType) {
        var deadline: UInt64?
        while true {
            let now = MonotonicClock.now
            let timeout = deadline.map { $0 > now ? $0 - now : 0 }
            guard Poll.wait(for: [Poll.Interest(agent)], timeout: timeout).first == true else {
                if let end = deadline, MonotonicClock.now >= end {
                    let bytes = neutral(type)
                    _ = write(node, bytes, bytes.count)
                    deadline = nil
                }
                continue
            }
            var bytes = [UInt8](repeating: 0, count: 64)
            let count = recv(agent, &bytes, bytes.count, 0)
            if count == 0 || count < 0 && errno != EINTR && errno != EAGAIN { return }
            if count > 0 { deadline = bytes[count - 1] == 0 ? nil : MonotonicClock.now + longestSilence }
        }
    }

    /// What is written to the node.
    package static func neutral(_ type: GamepadType) -> [UInt8] {
        switch type {
        case .xbox: XboxReport.events(.neutral).flatMap(\.bytes)
        case .dualsense: HIDEvent.input(DualSenseReport.input(.neutral, sequence: 0, time: MonotonicClock.now))
        }
    }
}

/// A gamepad with a guard.
package final class GuardedPad: GamepadDevice {
    private let pad: any GamepadDevice
    private let guardian: GamepadGuard
    private var state = GamepadState.neutral
    /// When the guard last heard that something is held, in monotonic ns; `nil` if nothing is.
    private var beat: UInt64?

    package init(_ pad: any GamepadDevice, _ guardian: GamepadGuard) { (self.pad, self.guardian) = (pad, guardian) }

    package var descriptor: Int32 { pad.descriptor }
    package var feedback: GamepadFeedback { pad.feedback }
    package var deadline: UInt64? {
        [beat.map { $0 + GamepadGuard.beatInterval }, pad.deadline].compactMap(\.self).min()
    }

    package func show(_ state: GamepadState, now: UInt64) throws(InputFailure) {
        self.state = state
        let isHeld = state != .neutral
        // The guard hears of what is pressed before applications do.
        if isHeld { try tell(isHeld, now: now) }
        try pad.show(state, now: now)
        if !isHeld { try tell(isHeld, now: now) }
    }

    package func receive(now: UInt64) throws(InputFailure) {
        if let beat, now >= beat + GamepadGuard.beatInterval {
            try tell(true, now: now)
            // The guard may have made it neutral.
            if now >= beat + GamepadGuard.longestSilence { try pad.show(state, now: now) }
        }
        try pad.receive(now: now)
    }

    package func close() {
        // The guard has the node, too: the gamepad ends with both.
        guardian.close()
        pad.close()
    }

    private func tell(_ isHeld: Bool, now: UInt64) throws(InputFailure) {
        guard isHeld || beat != nil else { return }
        try guardian.tell(isHeld: isHeld)
        beat = isHeld ? now : nil
    }
}
