import Media
import Wire

/// The way to give the captured monitor another size, if it has no hardware: sway's headless outputs, and the virtual
/// monitor that Mutter makes for a source.
struct MonitorResizing: Sendable {
    static let impossible = InputFailure.unsupported(
        "The monitor cannot take another size. That works with a headless output of sway, and with source mutter and a size."
    )

    /// How long the source may take to show the new size, in ns.
    private static let patience: UInt64 = .milliseconds(2_000)
    private static let interval: UInt64 = .milliseconds(5)

    let source: AgentConfiguration.Source
    let screen: Screen

    /// Whether the captured monitor takes another size.
    var isPossible: Bool {
        switch kind {
        case .virtual: true
        case .compositors(let output): (try? SwayOutput.withCaptured(output) { _, _ in true }) ?? false
        case .none: false
        }
    }

    /// Gives the monitor another size, and waits until the source shows it, or `stop` is set.
    func resize(to size: PictureSize, stop: Event) throws(InputFailure) {
        let former = screen.monitorSize
        switch kind {
        case .virtual: screen.resizeMonitor(to: size)
        case .compositors(let output):
            do throws(SwayFailure) {
                try SwayOutput.withCaptured(output) { output, sway throws(SwayFailure) in
                    try output.resize(to: size, sway)
                }
            } catch {
                throw .unsupported(error.detail)
            }
        case .none: throw Self.impossible
        }
        // A source of screenshots takes none while nobody watches.
        guard screen.demand.value.isWanted else { return screen.sourceTook(size) }
        let deadline = MonotonicClock.now + Self.patience
        while screen.sourceSize != size {
            // The hand says that the order was ended.
            if stop.wait(until: min(deadline, MonotonicClock.now + Self.interval)) { return }
            guard MonotonicClock.now < deadline else {
                // A source that is opened again must not ask for it again.
                screen.resizeMonitor(to: former)
                throw .lost("The monitor did not show the size \(size) within \(Self.patience / 1_000_000_000) s.")
            }
        }
    }

    /// Whose monitor is captured.
    private enum Kind {
        /// One that the source has made.
        case virtual
        /// One of the compositor's, by its name; `nil` if the source does not say which.
        case compositors(String?)
        case none
    }

    private var kind: Kind {
        switch source {
        case .mutter(.virtual, _): .virtual
        case .auto(.monitor, _), .portal(.monitor, _): .compositors(nil)
        case .screenshot(let target) where target.command == nil: .compositors(target.output)
        case .auto, .portal, .mutter, .node, .screenshot, .testPattern: .none
        }
    }
}
