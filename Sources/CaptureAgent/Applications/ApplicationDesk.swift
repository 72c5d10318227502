import Glibc
import Program
package import Wire

/// The keeper of the orders about applications that the relay sends over one link. Each order has a thread, because
/// one may wait for a window while another ends the application.
package final class ApplicationDesk: Sendable {
    /// The most orders that are under way.
    private static let capacity = 16
    /// The pause between two looks for a window, in ns.
    private static let pause: UInt64 = .milliseconds(50)
    /// The longest time that a launch waits for a window, in ms.
    private static let longestWait = 60_000
    /// How long ``close()`` waits for orders that are under way, in ns.
    private static let closeTime: UInt64 = .milliseconds(3_000)

    private struct State: Sendable {
        /// The number of orders that are under way.
        var running = 0
        var isClosing = false
    }

    private let state = Monitor(State())
    private let launches: Launches
    private let windows: WindowsChoice
    private let send: @Sendable (ApplicationAnswer) -> Void

    /// - Parameter send: Receives the answers.
    package init(
        _ launches: Launches,
        windows: WindowsChoice,
        send: @escaping @Sendable (ApplicationAnswer) -> Void
    ) {
        self.launches = launches
        self.windows = windows
        self.send = send
    }

    /// Accepts an order. If too many are under way, it answers at once.
    package func take(_ order: ApplicationOrder) {
        let isAccepted = state.update { state in
            guard state.running < Self.capacity else { return false }
            state.running += 1
            return true
        }
        guard isAccepted else {
            send(answer(order, .busy, "\(Self.capacity) orders about applications are under way."))
            return
        }
        do throws(ResourceShortage) {
            try WorkerThread(name: "application") { [self] in
                send(carryOut(order))
                state.update { $0.running -= 1 }
            }.detach()
        } catch {
            state.update { $0.running -= 1 }
            send(answer(order, .failed, error.description))
        }
    }

    /// Ends what waits for something, and returns when no order is under way, or after ``closeTime``.
    ///
    /// The desktop may keep an order's thread longer. Such a thread starts no application, and nobody gets its answer.
    package func close() {
        state.update { $0.isClosing = true }
        let deadline = MonotonicClock.now + Self.closeTime
        state.wait { $0.running == 0 || MonotonicClock.now >= deadline ? .done(()) : .wait(until: deadline) }
    }

    private var isClosing: Bool { state.withLock { $0.isClosing } }

    private func answer(
        _ order: ApplicationOrder,
        _ refusal: ApplicationAnswer.Refusal? = nil,
        _ detail: String? = nil,
        states: [ApplicationState] = []
    ) -> ApplicationAnswer {
        ApplicationAnswer(order: order.order, refusal: refusal, detail: detail, applications: states)
    }

    private func carryOut(_ order: ApplicationOrder) -> ApplicationAnswer {
        switch order.kind {
        case .launch: launch(order)
        case .look: answer(order, states: order.applications.map { launches.state(of: $0) })
        case .focus: focus(order)
        case .terminate: terminate(order)
        }
    }

    // MARK: Launch

    private func launch(_ order: ApplicationOrder) -> ApplicationAnswer {
        guard let launch = order.launch, let application = order.applications.first else {
            return answer(order, .failed, "The order does not say what to launch.")
        }
        // Before the application is there, so that it need not be ended again.
        if launch.windowTime != nil {
            do throws(WindowFailure) {
                try windows.open().close()
            } catch {
                return answer(order, error.refusal, error.detail)
            }
        }
        var (command, directory) = (launch.command ?? [], launch.directory)
        if let id = launch.desktopFile {
            do throws(DesktopFile.Failure) {
                let file = try DesktopFiles().file(id)
                (command, directory) = (file.command, directory ?? file.directory)
            } catch {
                return answer(order, .unknownFile, "The desktop file '\(id)' cannot be used: \(error.reason).")
            }
        }
        let terminated = "The application was terminated while it was launched."
        guard !isClosing, !launches.isTerminated(application.id) else {
            return answer(order, .failed, terminated)
        }
        let process: ProcessIdentity?
        do throws(Launches.Failure) {
            process = try launches.start(application.id, command, in: directory, with: launch.environment ?? [:])
        } catch {
            return answer(order, .notStarted, error.reason)
        }
        let launched = LaunchedProcess(id: application.id, process: process)
        // An order to end it may have come before the program was started, and found nothing.
        if launches.isTerminated(application.id) {
            launches.end([launched]) { isClosing }
            return answer(order, .failed, terminated, states: [launches.state(of: launched)])
        }
        if let time = launch.windowTime {
            do throws(WindowFailure) {
                try waitForWindow(of: launched, milliseconds: time)
            } catch {
                return answer(order, error.refusal, error.detail, states: [launches.state(of: launched)])
            }
        }
        return answer(order, states: [launches.state(of: launched)])
    }

    private func waitForWindow(of launched: LaunchedProcess, milliseconds: Int) throws(WindowFailure) {
        let milliseconds = min(max(0, milliseconds), Self.longestWait)
        let deadline = MonotonicClock.now + .milliseconds(milliseconds)
        let processes = launches.processes(of: launched)
        let desktop = try windows.open()
        defer { desktop.close() }
        while true {
            if try window(of: processes, on: desktop) != nil { return }
            let state = launches.state(of: launched)
            guard state.isRunning else {
                let how =
                    state.status.map { "it exited with status \($0)" }
                    ?? state.signal.map { "signal \($0) ended it" } ?? "it ended"
                throw WindowFailure(.ended, "The application had no window: \(how).")
            }
            let now = MonotonicClock.now
            guard now < deadline else {
                throw WindowFailure(.late, "The application had no window within \(Double(milliseconds) / 1000) s.")
            }
            let next = min(now + Self.pause, deadline)
            let isInterrupted = self.state.wait { state in
                state.isClosing ? .done(true) : MonotonicClock.now < next ? .wait(until: next) : .done(false)
            }
            if isInterrupted {
                throw WindowFailure(.failed, "The agent's link ended.")
            }
        }
    }

    /// Returns the newest window of an application.
    private func window(
        of processes: ApplicationProcesses,
        on desktop: any DesktopWindows
    ) throws(WindowFailure) -> DesktopWindow? {
        try desktop.windows().last { processes.contains($0.pid) }
    }

    // MARK: Focus and end

    private func focus(_ order: ApplicationOrder) -> ApplicationAnswer {
        guard let application = order.applications.first else {
            return answer(order, .failed, "The order names no application.")
        }
        do throws(WindowFailure) {
            let desktop = try windows.open()
            defer { desktop.close() }
            guard let window = try window(of: launches.processes(of: application), on: desktop) else {
                throw WindowFailure(.noWindow, "The application has no window.")
            }
            try desktop.focus(window)
            return answer(order, states: [launches.state(of: application)])
        } catch {
            return answer(order, error.refusal, error.detail)
        }
    }

    private func terminate(_ order: ApplicationOrder) -> ApplicationAnswer {
        launches.end(order.applications) { isClosing }
        let states = order.applications.map { launches.state(of: $0) }
        guard states.contains(where: \.isRunning) else { return answer(order, states: states) }
        return answer(order, .failed, "Processes of the application do not end.", states: states)
    }
}
