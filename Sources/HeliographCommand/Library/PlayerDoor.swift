import CommandSupport
@preconcurrency import Glibc
import HTTPTypes
import HeliographAPI
import HeliographClient
import Hummingbird
import Logging
import NIOCore

/// Recordings at addresses of this machine, for a player.
///
/// The player knows neither the relay's key nor its certificate. It does not notice when the connection to the relay is
/// lost and comes back. The addresses have 128 random bits, so other users of the machine cannot guess them.
enum PlayerDoor {
    /// Serves recordings while `body` runs, which gets their addresses.
    static func open(
        to downloads: [ItemDownload],
        _ body: @escaping @Sendable ([String]) async throws -> Void
    ) async throws {
        let secret = String(UInt128.random(in: 0...UInt128.max), radix: 36)
        let router = Router()
        let paths = downloads.indices.map { "/\(secret)/\($0)" }
        for (path, download) in zip(paths, downloads) {
            router.get(RouterPath(path)) { request, _ in try await answer(request, download) }
        }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "player")
        logger.logLevel = .critical
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                port.yield(channel.localAddress?.port ?? 0)
                port.finish()
            },
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { port.finish() }
                try await application.run()
            }
            group.addTask {
                for await port in ports { return try await body(paths.map { "http://127.0.0.1:\(port)\($0)" }) }
                throw CommandError.failed("cannot listen on 127.0.0.1 for the player")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private static func answer(_ request: Request, _ download: ItemDownload) async throws -> Response {
        let range = request.headers[.range]
        let part: RelayClient.Part
        do {
            part = try await download.part(range ?? "bytes=0-")
        } catch let error as RelayError where error.kind != .cancelled {
            guard error.problem != .badRange else { throw HTTPError(.rangeNotSatisfiable) }
            fputs("heliograph: \(CommandError(error))\n", stderr)
            throw HTTPError(.badGateway)
        }
        var headers: HTTPFields = [.contentType: "video/mp4", .acceptRanges: "bytes"]
        if range != nil { headers[.contentRange] = "bytes \(part.first)-\(part.last)/\(part.total)" }
        return Response(
            status: range == nil ? .ok : .partialContent,
            headers: headers,
            body: ResponseBody(contentLength: Int(clamping: part.last - part.first + 1)) { writer in
                try await download.rest(of: part) { try await writer.write($0) }
                try await writer.finish(nil)
            }
        )
    }
}
