import HTTPTypes
import HeliographAPI
import Hummingbird
import NIOCore
import Wire

extension API {
    /// The snapshots per second of an MJPEG stream, unless its viewer or the session asks for fewer.
    private static let defaultSnapshotRate = 5

    func addSnapshotRoutes(to routes: inout RouteTable) {
        for (call, format) in [(Routes.takeJPEG, SnapshotFormat.jpeg), (Routes.takePNG, .png)] {
            routes.respond(to: call) { query, request, context in
                try await snapshot(SnapshotKind(format, longestSide: query.width), query, request, context)
            }
        }
        routes.respond(to: Routes.streamMJPEG) { try await motionJPEG($0, $1, $2) }
    }

    @MediaLoop
    private func snapshot(
        _ kind: SnapshotKind,
        _ query: SnapshotQuery,
        _ request: Request,
        _ context: RelayRequestContext
    ) async throws(Problem) -> Response {
        let now = NIODeadline.now()
        let session = try await watchedSession(request, context, isUse: query.use)
        let snapshot: KeptSnapshot
        do {
            snapshot = try await session.snapshot(
                kind,
                since: query.fresh ? now : now - SessionSnapshots.sharingTime,
                isFresh: query.fresh,
                isUse: query.use
            )
        } catch {
            throw Problem(error, session: session)
        }
        var headers: HTTPFields = [.contentType: kind.format.mediaType, .cacheControl: "no-store"]
        for (name, value) in snapshot.fields(epoch: session.epoch) {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: snapshot.bytes))
    }

    /// Streams a session's snapshots until the session ends or the client leaves.
    private func motionJPEG(_ query: MotionJPEGQuery, _ request: Request, _ context: RelayRequestContext) async throws
        -> Response
    {
        let session = try await watchedSession(request, context)
        let most = await session.request.fps
        let rate = query.fps ?? min(Self.defaultSnapshotRate, most)
        guard rate <= most else { throw Problem(.outOfRange, "fps is \(rate); allowed: 1 to \(most)", field: "fps") }
        return try await stream(of: session, type: MotionJPEGViewer.mediaType, to: request, context) {
            session.makeMotionJPEGViewer(on: $0, fps: rate)
        }
    }
}

extension SnapshotFormat {
    fileprivate var mediaType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png: "image/png"
        }
    }
}

extension KeptSnapshot {
    /// Returns the header fields of a snapshot's answer.
    ///
    /// - Parameter epoch: The session's epoch, monotonic ns.
    @MediaLoop
    func fields(epoch: UInt64) -> [(name: String, value: String)] {
        // The agent's value may be anything.
        let captured = NIODeadline.uptimeNanoseconds(min(self.captured, NIODeadline.now().uptimeNanoseconds))
        return [
            ("Heliograph-Captured", captured.wallClockText),
            ("Heliograph-PTS", "\(pts(epoch: epoch))"),
            ("Heliograph-Geometry", "\(geometry)"),
            ("Heliograph-Orientation", "\(orientation)"),
        ]
    }
}
