import FoundationEssentials
import HeliographAPI
import Logging
import NIOCore
import Subprocess
import Synchronization
import SystemPackage

/// Runs cloudflared, which passes on calls from the internet to a port of the relay's own.
///
/// It starts cloudflared again whenever that ends. cloudflared ends with the relay, however that ends.
final class Tunnel: Sendable {
    /// What is known about the tunnel.
    struct Status: Sendable, Equatable {
        enum State: String, Sendable {
            /// It has no connection to Cloudflare yet, or has lost all.
            case connecting
            case up
            /// cloudflared does not run.
            case down
        }

        var state = State.connecting
        /// `https://` and a host name; `nil` until cloudflared tells it.
        var address: String?
        /// Why it is down; `nil` while it is not.
        var problem: String?
        /// The connections to Cloudflare that stand.
        fileprivate var connections: Set<Int> = []
    }

    /// Most bytes kept of a line of cloudflared's log.
    private static let longestLine = 4000
    /// How long cloudflared has between SIGTERM and SIGKILL.
    private static let grace = TimeAmount.seconds(3)

    /// A shell that runs a program, and ends it when standard input ends: the relay has the other end, which the kernel
    /// closes if the relay is killed. What does not end in 3 s is killed.
    private static let keeper = """
        exec 3<&0
        "$@" </dev/null 3<&- &
        child=$!
        trap : TERM
        { trap '' TERM; read -r _ <&3; kill "$child"; sleep 3; kill -KILL "$child"; } >/dev/null 2>&1 &
        watch=$!
        wait "$child"
        status=$?
        while kill -0 "$child" 2>/dev/null; do wait "$child"; status=$?; done
        kill -KILL "$watch" 2>/dev/null
        exit "$status"
        """

    let choice: TunnelChoice
    private let executable: String
    private let logger: Logger
    private let current = Mutex(Status())
    private let backoff: RestartBackoff.Policy
    private let events: EventHub

    init(
        _ choice: TunnelChoice,
        executable: String,
        backoff: RestartBackoff.Policy,
        events: EventHub,
        logger: Logger
    ) {
        self.choice = choice
        self.executable = executable
        self.backoff = backoff
        self.events = events
        self.logger = logger
    }

    var status: Status { current.withLock { $0 } }

    /// Runs the tunnel until the task is cancelled.
    ///
    /// - Parameter port: The relay's port for the tunnel, on 127.0.0.1.
    func run(port: Int) async {
        var backoff = RestartBackoff(policy: backoff)
        while !Task.isCancelled {
            change { $0 = Status() }
            let begin = NIODeadline.now()
            let problem = await runOnce(port: port)
            guard !Task.isCancelled else { return }
            backoff.wasLive(from: begin, to: .now())
            let delay = backoff.delay()
            change { $0 = Status(state: .down, problem: problem) }
            logger.error("the tunnel is down: \(problem). Next attempt in \(delay.seconds) s")
            try? await Task.sleep(for: .nanoseconds(delay.nanoseconds))
        }
    }

    /// Runs cloudflared until it ends, and returns why it did.
    private func runOnce(port: Int) async -> String {
        guard Descriptors.areFree(Descriptors.ofAStart) else { return "not enough file descriptors are left" }
        guard let pipe = try? FileDescriptor.pipe(options: .closeOnExec) else { return "no pipe can be made" }
        // cloudflared ends when this is closed.
        defer { try? pipe.writeEnd.close() }
        // It speaks with the internet, and needs no secret of the relay.
        let secrets = ProcessInfo.processInfo.environment.keys.filter { $0.hasPrefix("HELIOGRAPH_") }
        let environment = Environment.inherit.updating(
            Dictionary(secrets.map { (Environment.Key(stringLiteral: $0), nil) }) { $1 }
        )
        let words = [executable] + choice.arguments(port: port)
        do {
            let result = try await Subprocess.run(
                .path("/bin/sh"),
                arguments: Arguments(["-c", Self.keeper, "tunnel"] + words),
                environment: environment,
                platformOptions: .ownGroup(grace: Self.grace),
                input: .fileDescriptor(pipe.readEnd, closeAfterSpawningProcess: true),
                output: .discarded,
                error: .sequence
            ) { await follow($0.standardError) }
            return Self.problem(result.terminationStatus, lastLine: result.closureResult, executable: executable)
        } catch {
            return "\(error)"
        }
    }

    /// Reads cloudflared's log until its end, and returns the last line.
    private func follow(_ output: SubprocessOutputSequence) async -> String? {
        await output.forEachLine(limit: Self.longestLine) { line in
            logger.debug("cloudflared: \(line)")
            if let word = TunnelOutput(line) { take(word) }
        }
    }

    private func take(_ word: TunnelOutput) {
        let (former, now) = change { status in
            switch word {
            // The first one that it tells is its own.
            case .address(let address): status.address = status.address ?? address
            case .connection(let index, stands: true): status.connections.insert(index)
            case .connection(let index, stands: false): status.connections.remove(index)
            }
            status.state = status.connections.isEmpty ? .connecting : .up
        }
        guard (now.state, now.address) != (former.state, former.address) else { return }
        let address: Logger.Metadata = ["address": "\(now.address ?? "not known yet")"]
        if now.state == .up {
            logger.notice("the tunnel is up", metadata: address)
        } else if former.state == .up {
            logger.warning("the tunnel has lost all connections, and connects again", metadata: address)
        }
    }

    /// Changes the status, and publishes what others see of it.
    @discardableResult
    private func change(_ body: (inout Status) -> Void) -> (former: Status, now: Status) {
        let (former, now) = current.withLock { status in
            let former = status
            body(&status)
            return (former, status)
        }
        if (now.state, now.address) != (former.state, former.address) {
            events.publish(.tunnelChanged, state: now.state.rawValue)
        }
        return (former, now)
    }

    private static func problem(_ status: TerminationStatus, lastLine: String?, executable: String) -> String {
        switch status {
        // What a shell says of a program that it does not find (POSIX, Shell Command Language, 2.8.2).
        case .exited(127), .exited(126):
            return
                "\(executable) cannot be run. Install cloudflared from https://github.com/cloudflare/cloudflared/releases, or set tunnelExecutable"
        case .exited(let code):
            return "cloudflared ended with status \(code)" + (lastLine.map { ": \($0)" } ?? "")
        case .signaled(let signal):
            return "cloudflared was ended by signal \(signal)" + (lastLine.map { ": \($0)" } ?? "")
        }
    }
}
