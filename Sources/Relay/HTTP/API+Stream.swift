import HTTPTypes
import HeliographAPI
import Hummingbird
import Media
import NIOCore
import Wire

/// Has an agent find out whether it encodes AAC.
@MediaLoop
private final class AACQuestion: Sink {
    var demand: Demand { Demand(video: .none, audio: [.aac]) }
    var isUse: Bool { false }
    func take(_ item: StreamItem) {}
}

extension StreamAudio {
    /// The codec that it asks for; `nil` for no sound.
    var codec: SoundCodec? {
        switch self {
        case .on, .opus: .opus
        case .off: nil
        case .aac: .aac
        }
    }
}

extension API {
    /// How long an agent may take to try its encoder of AAC.
    private static let encoderTime = TimeAmount.seconds(2)
    /// How long a viewer may take to join after that.
    private static let joiningTime = TimeAmount.seconds(1)

    func addStreamRoutes(to routes: inout RouteTable) {
        for (call, codec) in [(Routes.streamH264, Codec.h264), (Routes.streamH265, .h265)] {
            routes.respond(to: call) { try await stream($0, $1, $2, codec: codec) }
        }
        for (call, container) in [(Routes.streamTS, Container.transportStream), (Routes.streamMP4, .fragmentedMP4)] {
            routes.respond(to: call) { query, request, context in
                let session = try await watchedSession(request, context)
                if query.audio == .aac { try await requireAAC(of: session) }
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
        for (call, format) in [(Routes.streamOgg, SoundViewer.Format.ogg), (Routes.streamAAC, .adts)] {
            routes.respond(to: call) { _, request, context in
                let session = try await watchedSession(request, context)
                try await session.requireSound()
                if format == .adts { try await requireAAC(of: session) }
                return try await stream(of: session, type: format.mediaType, to: request, context) {
                    session.makeSoundViewer(on: $0, format: format)
                }
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
            session.makeHTTPViewer(on: $0, format: format, sound: query.audio.codec, join: query.join)
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

    /// Refuses a call that needs AAC if the device's agent cannot encode it. An agent finds out when it is first asked.
    @MediaLoop
    func requireAAC(of session: Session) async throws {
        guard session.device.sound != .off, let sound = switchboard.broadcast(of: session.device.name)?.sound else {
            return
        }
        if sound.encodesAAC == nil, !sound.tracks.isEmpty {
            let question = AACQuestion()
            session.stream.attach(question)
            session.source.follow()
            defer {
                // Not before the viewer has joined, so that the capture goes on.
                MediaLoop.schedule(at: .now() + Self.joiningTime) {
                    session.stream.detach(question)
                    session.source.follow()
                }
            }
            let limit = NIODeadline.now() + Self.encoderTime
            while sound.encodesAAC == nil, .now() < limit { try await Task.sleep(for: .milliseconds(10)) }
        }
        guard sound.encodesAAC == false else { return }
        throw Problem(.noAAC, (sound.aacProblem ?? "the device's agent has no AAC") + ". Opus is there: stream.ogg")
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
