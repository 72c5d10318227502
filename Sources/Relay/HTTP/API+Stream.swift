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
                let session = try await watchedSession(request, context)
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
        routes.respond(to: Routes.streamOgg) { _, request, context in
            let session = try await watchedSession(request, context)
            try await session.requireSound()
            return try await stream(of: session, type: OggViewer.mediaType, to: request, context) {
                session.makeOggViewer(on: $0)
            }
        }
    }

    /// Streams a session as Annex B.
    private func stream(
        _ query: StreamQuery,
        _ request: Request,
        _ context: RelayRequestContext,
        codec: Codec
    ) async throws -> Response {
        let session = try await watchedSession(request, context)
        let actual = await session.request.codec
        guard actual == codec else { throw Problem(SessionError.otherCodec(session.id, actual)) }
        // The media types of H.264 and H.265 are registered for RTP; players of bare streams use them too.
        return try await stream(session, query, in: .bare(.annexB), type: "video/\(codec.rawValue)", request, context)
    }

    /// Streams a session until it ends or the client leaves.
    private func stream(
        _ session: Session,
        _ query: StreamQuery,
        in format: StreamFormat,
        type: String,
        _ request: Request,
        _ context: RelayRequestContext
    ) async throws -> Response {
        try await stream(of: session, type: type, to: request, context) {
            session.makeHTTPViewer(on: $0, format: format, audio: query.audio, join: query.join)
        }
    }

    /// Returns a response that lasts until the session ends or the client leaves.
    ///
    /// - Parameter makeViewer: Admits the connection's viewer; `nil` if there is no room for it.
    func stream<Puller: PullingViewer>(
        of session: Session,
        type: String,
        to request: Request,
        _ context: RelayRequestContext,
        makeViewer: @escaping @MediaLoop @Sendable (any Channel) -> Puller?
    ) async throws -> Response {
        if let refusal = await session.refusal { throw Problem(refusal) }
        let body = ResponseBody { writer in
            // The viewer joins here, because this only runs if the response's head could be written.
            if let viewer = await makeViewer(context.channel) {
                try await serve(viewer, of: session, to: request, writer: &writer)
            }
            try await writer.finish(nil)
        }
        // The connection ends with the stream, so that closing a viewer never hits a later request on the connection.
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
            // A client that leaves is noticed when its connection closes, even if no pictures flow.
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
