import Access
import HTTPTypes
import HeliographAPI
import Hummingbird
import Library
import NIOCore
import Packaging

extension API {
    /// How long a client may wait for a segment or part: three target durations (RFC 8216, second edition, 6.2.5.2).
    private static let liveTime = TimeAmount.seconds(3 * Int64(LivePlaylist.target))

    func addLiveHLSRoutes(to routes: inout RouteTable) {
        routes.respond(to: Routes.watchLive) { query, request, context in
            let session = try await watchedSession(request, context)
            if query.audio == .aac { try await requireAAC(of: session) }
            return try await livePlaylist(of: session, query, context.caller)
        }
        routes.respond(to: Routes.getLiveFile) { _, request, context in
            let session = try await session(context)
            let run = context.parameters.get("run") ?? ""
            guard let file = context.parameters.get("part").flatMap({ LiveHLS.File($0) }),
                let content = await session.liveFile(file, of: run, until: .now() + Self.liveTime),
                let body = try await body(of: content, session, context.caller, until: .now() + Self.liveTime)
            else {
                throw Problem(.unknownSegment, "this part of the stream is gone, or does not come: read the playlist")
            }
            // A part of a run shows the same for ever.
            let headers: HTTPFields = [.contentType: "video/mp4", .cacheControl: "private, max-age=3600, immutable"]
            return Response(status: .ok, headers: headers, body: body)
        }
    }

    /// Returns the bytes of a part; `nil` if the recording no longer has it, or does not get it in time.
    private func body(
        of content: LiveHLS.Content,
        _ session: Session,
        _ caller: Caller,
        until deadline: NIODeadline
    ) async throws -> ResponseBody? {
        switch content {
        case .bytes(let bytes): return ResponseBody(contentsOf: bytes)
        case .recorded(let past):
            try access.require(.look, of: caller)
            guard let recording = await session.recording else { return nil }
            // The recorder writes about once a second.
            while NIODeadline.now() < deadline {
                do {
                    let pieces = try await pieces(of: past, in: recording)
                    return pieces.isEmpty ? nil : FileBody(pieces).response
                } catch is RecordedPast.NotWritten {
                    try await Task.sleep(for: .milliseconds(200))
                }
            }
            return nil
        }
    }

    private func pieces(of past: RecordedPast, in recording: String) async throws -> [FileBody.Segment] {
        let cache = switchboard.recordings.movies
        return try await inLibrary { library in
            let items = try library.recording(recording).filter { $0.state != .missing }
            return try past.pieces(in: items) { try cache.movie(of: $0, until: $1, in: library) }
        }
    }

    @MediaLoop
    private func livePlaylist(of session: Session, _ query: LiveQuery, _ caller: Caller) async throws -> Response {
        if let refusal = session.refusal { throw Problem(refusal) }
        let live = session.liveHLS(sound: query.audio.codec)
        let place = query.segment.map { LivePlaylist.Place(segment: UInt64(clamping: $0), part: query.part) }
        if let place, live.isFar(place) {
            throw Problem(.outOfRange, "segment \(place.segment) is far in the future", field: "_HLS_msn")
        }
        let deadline = NIODeadline.now() + Self.liveTime
        let mayLook = caller.libraryRights.contains(.look)
        guard
            let text = await live.playlist(
                with: place,
                skips: query.skip != nil,
                hasPast: mayLook,
                until: deadline
            )
        else {
            throw Problem(.waitTimeout, "no picture of the session has come in time: is its device broadcast?")
        }
        return Self.playlist(text)
    }
}

extension LiveHLS.File {
    /// Reads a file's name: `init0.mp4`, `12.m4s` for a segment, or `12.3.m4s` for a part. Each file has one name, so
    /// that caches keep it once.
    fileprivate init?(_ name: String) {
        self.init(anyOf: name)
        guard self.name == name else { return nil }
    }

    private var name: String {
        switch self {
        case .initialization(let number): "init\(number).mp4"
        case .media(let place): "\(place.segment)\(place.part.map { ".\($0)" } ?? "").m4s"
        }
    }

    private init?(anyOf name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 2, parts[1] == "mp4", parts[0].hasPrefix("init"), let number = Int(parts[0].dropFirst(4)) {
            self = .initialization(number)
            return
        }
        guard parts.count == 2 || parts.count == 3, parts.last == "m4s", let segment = UInt64(parts[0]) else {
            return nil
        }
        guard parts.count == 3 else {
            self = .media(.init(segment: segment, part: nil))
            return
        }
        guard let part = Int(parts[1]), part >= 0 else { return nil }
        self = .media(.init(segment: segment, part: part))
    }
}
