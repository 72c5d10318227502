import CommandSupport
import FoundationEssentials
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import UnixSignals
import Viewer

/// A session to show, and what to call it.
struct NamedScreen: Sendable {
    let screen: any Screen
    let name: String

    init(_ screen: any Screen, _ name: String) { (self.screen, self.name) = (screen, name) }
}

/// Sessions in a window.
struct WindowShow: Sendable {
    let screens: [NamedScreen]
    /// The relay's address.
    let url: String
    let options: Viewer.Options
    let printsStatistics: Bool

    /// Shows them until the window is closed, or all have ended.
    ///
    /// - Throws: ``CommandError`` if there is no window, or all sessions have ended.
    @MainActor
    func run() async throws {
        var options = options
        options.title = screens.map(\.name).joined(separator: ", ") + " – Heliograph"
        let file = ViewerSettingsFile.usual(in: ProcessInfo.processInfo.environment)
        let feeds = screens.map { SessionFeed($0.screen, named: $0.name) { Viewer.wake() } }
        let viewer = try CommandError.reporting { () throws(ViewerError) in
            try Viewer(feeds, options, file?.settings(of: url) ?? ViewerSettings())
        }
        let printing = printsStatistics ? Task.detached { try await Self.printStatistics(of: feeds) } : nil
        let statuses = viewer.run()
        printing?.cancel()
        do {
            try file?.set(viewer.settings, of: url)
        } catch {
            fputs("heliograph: cannot keep the settings: \(error)\n", stderr)
        }
        try Self.check(statuses)
    }

    /// Throws why a session has ended.
    static func check(_ statuses: [SessionFeed.Status]) throws(CommandError) {
        for case .ended(let reason) in statuses { throw reason }
    }

    private static func printStatistics(of feeds: [SessionFeed]) async throws {
        setlinebuf(stdout)
        let clock = ContinuousClock()
        var next = clock.now
        while true {
            next += .seconds(1)
            try await Task.sleep(until: next, clock: clock)
            for feed in feeds {
                guard let statistics = feed.statistics else { continue }
                guard puts(try JSONValue(encoding: NamedReport(name: feed.name, statistics)).text) >= 0 else { return }
            }
        }
    }
}

/// A session in the terminal.
struct TerminalShow: Sendable {
    let screens: [NamedScreen]
    let style: TerminalView.Style

    /// Shows it until it ends, or a signal comes.
    ///
    /// - Throws: ``CommandError`` if there are several sessions, or if it has ended.
    func run() async throws {
        guard let first = screens.first, screens.count == 1 else {
            throw CommandError.failed("a terminal shows one session: give one")
        }
        let view = TerminalView(style)
        let feed = SessionFeed(first.screen, named: first.name) { view.wake() }
        feed.start()
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let showing = Task { await view.show(feed) }
        let stopping = Task {
            for await _ in signals { break }
            showing.cancel()
        }
        let status = await showing.value
        stopping.cancel()
        feed.close()
        try WindowShow.check([status])
    }
}

/// How a session of several arrives.
private struct NamedReport: Encodable {
    let session: String
    let arrival: ArrivalReport

    init(name: String, _ statistics: LiveStatistics) {
        (session, arrival) = (name, ArrivalReport(statistics))
    }
}
