import HTTPTypes
import HeliographAPI
import Hummingbird
import Media
import NIOCore
import Wire

extension API {
    func addStreamRoutes(to routes: inout RouteTable) {
        for (call, codec) in [(Routes.streamH264, Codec.h264), (Routes.streamH265, .h265)] {
            routes.respond(to: call) { try await stream($0, $1, $2, codec: codec) }
        }
        for (call, container) in [(Routes.streamTS, Container.transportStream), (Routes.streamMP4, .fragmentedMP4)] {
            routes.respond(to: call) { query, request, context in
                let session = try await session(context)
                return try await stream(
                    session,
                    query,
                    in: .container(container),
                    type: container.mediaType,
                    request,
                    context
                )
            }
        }
    }

    /// A session's Annex B stream.
    private func stream(
        _ query: StreamQuery,
        _ request: Request,
        _ context: RelayRequestContext,
        codec: Codec
    ) async throws -> Response {
        let session = try await session(context)
        let actual = await session.request.codec
        guard actual == codec else { throw Problem(SessionError.otherCodec(session.id, actual)) }
        // The media types of H.264 and H.265 are registered for RTP; players of bare streams use the same.
        return try await stream(session, query, in: .bare(.annexB), type: "video/\(codec.rawValue)", request, context)
    }

    /// A session's stream, for as long as session and client live.
    private func stream(
        _ session: Session,
        _ query: StreamQuery,
        in format: StreamFormat,
        type: String,
        _ request: Request,
        _ context: RelayRequestContext
    ) async throws -> Response {
        try await stream(of: session, type: type, to: request, context) {
            session.makeHTTPViewer(on: $0, format: format, join: query.join)
        }
    }

    /// A response that lasts as long as session and client live.
    ///
    /// - Parameter makeViewer: Lets the connection's viewer in; nil when there is no room for it.
    func stream<Puller: PullingViewer>(
        of session: Session,
        type: String,
        to request: Request,
        _ context: RelayRequestContext,
        makeViewer: @escaping @MediaLoop @Sendable (any Channel) -> Puller?
    ) async throws -> Response {
        if let refusal = await session.refusal { throw Problem(refusal) }
        let body = ResponseBody { writer in
            // Joins here and not before, since this runs only when the response's head could be written.
            if let viewer = await makeViewer(context.channel) {
                try await serve(viewer, of: session, to: request, writer: &writer)
            }
            try await writer.finish(nil)
        }
        // The connection ends with the stream, so that what ends the one never meets a later request on the other.
        let headers: HTTPFields = [.contentType: type, .cacheControl: "no-store", .connection: "close"]
        return Response(status: .ok, headers: headers, body: body)
    }

    private func serve(
        _ viewer: some PullingViewer,
        of session: Session,
        to request: Request,
        writer: inout any ResponseBodyWriter
    ) async throws {
        do {
            // A client that leaves is noticed by its closed connection, even while no picture flows.
            try await request.body.consumeWithInboundCloseHandler { _ in
                while let piece = await viewer.next() { try await writer.write(piece.joined) }
            } onInboundClosed: {
                Task { await viewer.finish() }
            }
        } catch {
            await session.remove(viewer)
            throw error
        }
        await session.remove(viewer)
    }
}
