import CLinux
import Glibc
package import Program
package import Wire

/// The applications that this agent has launched. They stay when its link ends, and when it dies.
package final class Launches: Sendable {
    /// Why a program was not started, for people.
    package struct Failure: Error {
        package let reason: String
    }

    private struct Child: Sendable {
        let process: ProcessIdentity?
        let pid: pid_t
        /// How it ended, as waitpid(2) says; `nil` while it runs.
        var ending: Int32?
    }

    /// The most applications whose end, or whose termination, is remembered.
    private static let capacity = 64
    /// What an application must not inherit.
    private static let ownVariables = [ApplicationProcesses.variable, "HELIOGRAPH_LINK_TOKEN"]

    private struct State: Sendable {
        var children: [String: Child] = [:]
        /// The ids in the order of their launches.
        var order: [String] = []
        /// The ids of the applications that were terminated last.
        var terminated: [String] = []
    }

    private let table = Monitor(State())

    package init() {}

    /// Starts a program in this process's environment, in a session of its own.
    ///
    /// - Parameter environment: Variables over those of this process.
    package func start(
        _ id: String,
        _ command: [String],
        in directory: String?,
        with environment: [String: String]
    ) throws(Failure) -> ProcessIdentity? {
        var variables = Self.inherited.merging(environment) { $1 }
        variables[ApplicationProcesses.variable] = id
        let lines = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        var pid: pid_t = 0
        let result = Self.withStrings(command) { arguments in
            Self.withStrings(lines) { clinux_launch(arguments, $0, directory, &pid) }
        }
        guard result == 0 else {
            let place = directory.map { " in \($0)" } ?? ""
            throw Failure(
                reason: "\(command.first ?? "") cannot be started\(place): \(String(cString: strerror(result)))."
            )
        }
        let process = ProcessIdentity(pid: pid)
        table.update { state in
            Self.reap(&state)
            state.children[id] = Child(process: process, pid: pid)
            state.order.append(id)
            while state.order.count > Self.capacity,
                let oldest = state.order.firstIndex(where: { state.children[$0]?.ending != nil })
            {
                state.children[state.order.remove(at: oldest)] = nil
            }
        }
        return process
    }

    /// Returns how an application is, which another agent may have launched.
    package func state(of launched: LaunchedProcess) -> ApplicationState {
        let child = child(launched.id)
        // A child that was not reaped runs, even if its environment is unreadable.
        let isChildRunning = child.map { $0.ending == nil } ?? false
        var report = ApplicationState(
            id: launched.id,
            process: child?.process ?? launched.process,
            user: child.map { _ in geteuid() },
            isRunning: isChildRunning || processes(of: launched, child).areRunning
        )
        if let ending = child?.ending {
            let signal = ending & 0x7F
            if signal == 0 { report.status = Int((ending >> 8) & 0xFF) } else { report.signal = Int(signal) }
        }
        return report
    }

    /// The processes of an application, which another agent may have launched.
    package func processes(of launched: LaunchedProcess) -> ApplicationProcesses {
        processes(of: launched, child(launched.id))
    }

    private func processes(of launched: LaunchedProcess, _ child: Child?) -> ApplicationProcesses {
        if let process = child?.process { return .init(id: launched.id, first: process, isTrusted: true) }
        return .init(id: launched.id, first: launched.process)
    }

    private func child(_ id: String) -> Child? {
        table.update { state in
            Self.reap(&state)
            return state.children[id]
        }
    }

    /// Whether an application was terminated, perhaps before it was started.
    package func isTerminated(_ id: String) -> Bool { table.withLock { $0.terminated.contains(id) } }

    /// Ends applications, which other agents may have launched.
    ///
    /// - Parameter isUrgent: Asked now and then; `true` ends the time after SIGTERM.
    package func end(_ applications: [LaunchedProcess], isUrgent: () -> Bool = { false }) {
        let ids = applications.map(\.id)
        table.update { state in
            state.terminated = Array((state.terminated.filter { !ids.contains($0) } + ids).suffix(Self.capacity))
        }
        _ = ApplicationProcesses.end(applications.map { processes(of: $0) }, isUrgent: isUrgent)
    }

    /// Ends all that this agent has launched. For an agent whose relay stays away.
    ///
    /// - Parameter isUrgent: Asked now and then; `true` ends the time after SIGTERM.
    package func endAll(isUrgent: () -> Bool = { false }) {
        end(table.withLock { $0.children.keys.map { LaunchedProcess(id: $0) } }, isUrgent: isUrgent)
    }

    /// Asks the system which children have ended.
    private static func reap(_ state: inout State) {
        for (id, child) in state.children where child.ending == nil {
            var status: Int32 = 0
            let result = waitpid(child.pid, &status, WNOHANG)
            if result == child.pid { state.children[id]?.ending = status }
        }
    }

    private static var inherited: [String: String] {
        var variables: [String: String] = [:]
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = environ
        while let line = entry.pointee {
            let text = String(cString: line)
            if let place = text.firstIndex(of: "=") {
                variables[String(text[..<place])] = String(text[text.index(after: place)...])
            }
            entry += 1
        }
        for name in ownVariables { variables[name] = nil }
        return variables
    }

    /// Calls `body` with the strings as C has them, and NULL after the last.
    private static func withStrings<Result>(
        _ strings: [String],
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        let copies: [UnsafeMutablePointer<CChar>?] = strings.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return copies.withUnsafeBufferPointer { body($0.baseAddress!) }
    }
}
