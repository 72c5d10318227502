import FoundationEssentials
import HTTPTypes
import HeliographAPI
import Hummingbird
import Library
import Media
import NIOCore
import Packaging

extension API {
    /// HLS of recordings (RFC 8216).
    func addHLSRoutes(to routes: inout RouteTable) {
        routes.respond(to: Routes.getRecordingPlaylist) { _, _, context in
            let item = try await item(context)
            if item.isMusic {
                return try await musicPlaylist(of: item, segmentsIn: "\(MediaPlaylist.Track.mp3.rawValue)/")
            }
            try Self.requireRecording(item)
            let text = try await recordedMovies(of: item, context.caller).multivariant(of: item)
            return Self.playlist(text)
        }
        routes.respond(to: Routes.getRecordingTrack) { _, _, context in
            let (item, track) = (try await item(context), try Self.track(context))
            if item.isMusic, track == .mp3 { return try await musicPlaylist(of: item, segmentsIn: "") }
            try Self.requireTrack(track, of: item)
            let text = try await recordedMovies(of: item, context.caller).playlist(of: track)
            return Self.playlist(text)
        }
        routes.respond(to: Routes.getRecordingInitialization) { _, _, context in
            let (item, track) = (try await item(context), try Self.track(context))
            return try await initialization(of: track, in: item)
        }
        routes.respond(to: Routes.getRecordingSegment) { _, _, context in
            let (item, track) = (try await item(context), try Self.track(context))
            // Each segment has one name, so that caches keep it once.
            guard let text = context.parameters.get("offset"), let offset = UInt64(text), offset < 1 << 52,
                text == "\(offset)", let name = context.parameters.get("segment")
            else { throw Self.noSegment }
            if item.isMusic, track == .mp3 { return try await musicSegment(name, at: offset, of: item) }
            guard let number = UInt32(name.dropLast(RecordedMovies.segmentEnding.count)),
                name == "\(number)\(RecordedMovies.segmentEnding)"
            else { throw Self.noSegment }
            return try await segment(number, of: track, in: item, at: offset)
        }
    }

    static var noSegment: Problem {
        Problem(.unknownItem, "there is no such segment: take the addresses of a playlist")
    }

    private static func track(_ context: RelayRequestContext) throws(Problem) -> MediaPlaylist.Track {
        let name = context.parameters.get("track") ?? ""
        guard let track = MediaPlaylist.Track(rawValue: name) else {
            throw Problem(.unknownItem, "there is no track \"\(name)\": video, opus, aac and mp3 may exist")
        }
        return track
    }

    /// Refuses the track that only music has. Each other one is in a recording, sound also as silence.
    private static func requireTrack(_ track: MediaPlaylist.Track, of item: Item) throws(Problem) {
        try requireRecording(item)
        guard track != .mp3 else {
            throw Problem(.unknownItem, "item \(item.id) has no track \"\(track.rawValue)\"")
        }
    }

    private static func requireRecording(_ item: Item) throws(Problem) {
        guard !item.facts.isOfSession else { return }
        guard !item.isMusic else { throw Problem(.unknownItem, "item \(item.id) is music, which has the track mp3") }
        throw Problem(.unknownItem, "item \(item.id) is a file of another program, without HLS: play its file")
    }

    /// Returns where the files of an item's recording are cut.
    private func recordedMovies(of item: Item, _ caller: Caller) async throws -> RecordedMovies {
        let cache = switchboard.recordings.movies
        return try await inLibrary { library in
            let items = try library.recording(item.facts.recording, scope: caller.scope)
            return try RecordedMovies(items.filter { $0.state != .missing }) { try cache.segments(of: $0, in: library) }
        }
    }

    /// Answers with a playlist, which changes.
    static func playlist(_ text: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: MediaPlaylist.type, .cacheControl: "private, no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    private func initialization(of track: MediaPlaylist.Track, in item: Item) async throws -> Response {
        try Self.requireTrack(track, of: item)
        let movie = try await movie(item, with: 0)
        let sound = track.soundCodec.map { codec in
            movie.index.sound(in: codec)?.description ?? TrackDescription(silentIn: codec)
        }
        guard let found = sound ?? movie.index.video?.description else {
            throw Problem(.unknownItem, "item \(item.id) has no pictures")
        }
        return Self.media([.bytes(MovieSegment.initialization(of: found))], of: track)
    }

    private func segment(
        _ number: UInt32,
        of track: MediaPlaylist.Track,
        in item: Item,
        at offset: UInt64
    ) async throws -> Response {
        try Self.requireTrack(track, of: item)
        let movie = try await movie(item, with: Int(clamping: number))
        guard let range = movie.segments.range(of: Int(clamping: number)) else {
            throw Problem(.unknownItem, "item \(item.id) has \(movie.segments.count) segments, from 0")
        }
        let segment = MovieSegment(of: movie.index, sound: track.soundCodec, range, number: number, offset: offset)
        guard let segment else { throw Problem(.unknownItem, "segment \(number) of item \(item.id) cannot be read") }
        return Self.media(segment.pieces.map { FileBody.Segment($0, of: movie.file) }, of: track)
    }

    private func movie(_ item: Item, with segment: Int) async throws -> MovieCache.Movie {
        let cache = switchboard.recordings.movies
        return try await inLibrary { try cache.movie(of: item, with: segment, in: $0) }
    }

    /// Answers with bytes that stay the same for ever.
    private static func media(_ pieces: [FileBody.Segment], of track: MediaPlaylist.Track) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: track == .video ? "video/mp4" : "audio/mp4",
                .cacheControl: "private, max-age=31536000, immutable",
            ],
            body: FileBody(pieces).response
        )
    }
}
