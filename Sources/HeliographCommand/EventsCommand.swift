import ArgumentParser
import CommandSupport
import FoundationEssentials
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import NIOCore
import SystemPackage

struct EventsCommand: AsyncParsableCommand {
    /// How long the relay may be silent. It sends something every 15 s.
    private static let silence = Duration.seconds(45)
    /// The first and the longest pause before the relay is tried again.
    private static let pauses = (first: Duration.milliseconds(250), longest: Duration.seconds(10))

    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Shows what happened on the relay, or what happens, one event a line.",
        discussion: """
            Without --follow it prints the last events, up to 1000, and ends. With --follow it prints what happens from now on,
            until Ctrl-C; when the relay is started again it goes on, and misses nothing that the relay keeps.
              heliograph events --types session,feed --device left
              heliograph events --follow --json | while read -r event; do …; done
            """
    )

    @OptionGroup var relay: RelayAddress

    @Flag(help: "Prints what happens from now on, until Ctrl-C.")
    var follow = false

    @Option(
        help: ArgumentHelp(
            "Only these types, with commas between them; session stands for all that begin with session. Types: "
                + EventReport.Kind.allCases.map(\.rawValue).joined(separator: ", ") + ".",
            valueName: "types"
        ),
        completion: .list(EventReport.Kind.allCases.map(\.rawValue))
    )
    var types: String?

    @Option(
        help: ArgumentHelp("Only events of this device.", valueName: "device"),
        completion: .custom(Completions.devices)
    )
    var device: String?

    @Option(
        help: ArgumentHelp("Only events of the session with this id or name.", valueName: "id or name"),
        completion: .custom(Completions.sessions)
    )
    var session: String?

    @Flag(help: "Prints the relay's own events, as JSON, one a line.")
    var json = false

    private var query: EventQuery {
        var query = EventQuery()
        (query.types, query.device) = (types, device)
        query.session = session.flatMap(UInt32.init).map(Int.init)
        query.follow = follow
        return query
    }

    func validate() throws {
        guard types == nil || query.kinds != nil else {
            throw ValidationError(
                "Unknown event types '\(types ?? "")'. Allowed: "
                    + "\(EventReport.Kind.allCases.map(\.rawValue).joined(separator: ", ")), or their beginnings before the "
                    + "dot, with commas between them."
            )
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        try await CommandError.reporting {
            try await RelayClient.with(relay, silence: Self.silence) { client in
                if follow { return try await followEvents(client) }
                var first: String?
                try await client.events(query, after: &first) { try show($0) }
            }
        }
    }

    /// Prints events from now on. After a lost connection it continues at the last event.
    private func followEvents(_ client: RelayClient) async throws {
        // The relay names its last event even if it has none to tell.
        var last: String?
        var kept = EventQuery()
        kept.follow = false
        try await client.events(kept, after: &last) { _ in true }
        var pause = Self.pauses.first
        var reads = true
        while reads {
            do {
                try await client.events(query, after: &last) { event in
                    pause = Self.pauses.first
                    reads = try show(event)
                    return reads
                }
                if reads { try await rest(&pause, after: "the relay at \(client.url) ended the stream of events") }
            } catch let error as RelayError where error.isLossOfRelay {
                try await rest(&pause, after: "\(error)")
            }
        }
    }

    /// Waits before the relay is tried again, and doubles the pause.
    private func rest(_ pause: inout Duration, after loss: String) async throws {
        if pause == Self.pauses.first { fputs("heliograph: \(loss); trying again\n", stderr) }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, Self.pauses.longest)
    }

    /// Prints an event if the user wants it.
    ///
    /// - Returns: Whether the output still has a reader.
    private func show(_ event: ServerSentEvents.Event) throws -> Bool {
        let report: EventReport
        do {
            report = try JSONDecoder().decode(EventReport.self, from: Data(event.data.utf8))
        } catch {
            throw CommandError.failed("the relay sends an event that this release does not know: \(event.data)")
        }
        // The relay filters by ids only.
        if let session, UInt32(session) == nil, report.name != session { return true }
        let line = json ? event.data : Summary.text(of: report)
        return try SystemPackage.FileDescriptor.writeToStandardOutput(Array("\(line)\n".utf8))
    }
}
