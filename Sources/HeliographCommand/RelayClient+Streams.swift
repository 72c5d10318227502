import CommandSupport
import HeliographAPI
import HeliographClient
import Media
import NIOCore
import Packaging

extension RelayClient {
    /// Passes the units of a stream of MP4 fragments to `consume` with the stream's audio tracks, until the stream ends
    /// or `consume` returns `false`.
    ///
    /// - Throws: ``RelayError``, and what `consume` throws.
    func units(
        of session: UInt32,
        _ query: StreamQuery,
        to consume: (AccessUnit, _ sound: [MediaTrack]) throws -> Bool
    ) async throws {
        let stream = try await stream(Routes.streamMP4, query, at: .session(session))
        var reader = FragmentReader()
        try await Self.pass(stream, "stream", by: { try reader.append($0) }, to: { try consume($0, reader.sound) })
    }

    /// Passes the pages of a session's sound to `consume`, until the stream ends or `consume` returns `false`.
    ///
    /// - Throws: ``RelayError``, and what `consume` throws.
    func sound(of session: UInt32, to consume: (OggPage) throws -> Bool) async throws {
        let stream = try await stream(Routes.streamOgg, at: .session(session), "broke the sound off")
        var reader = OggPageReader()
        try await Self.pass(stream, "sound", by: { try reader.append($0) }, to: consume)
    }

    /// Passes the frames of a session's sound in AAC to `consume`, until the stream ends or `consume` returns `false`.
    ///
    /// - Throws: ``RelayError``, and what `consume` throws.
    func aac(of session: UInt32, to consume: (ADTSFrame) throws -> Bool) async throws {
        let stream = try await stream(Routes.streamAAC, at: .session(session), "broke the sound off")
        var reader = ADTSReader()
        try await Self.pass(stream, "sound", by: { try reader.append($0) }, to: consume)
    }

    /// Reads a stream with `read`, and passes the parts to `consume`, until it ends or `consume` returns `false`.
    private static func pass<Part>(
        _ stream: StreamedAnswer,
        _ what: String,
        by read: (ByteBufferView) throws -> [Part],
        to consume: (Part) throws -> Bool
    ) async throws {
        for try await bytes in stream.body {
            let parts: [Part]
            do {
                parts = try read(bytes.readableBytesView)
            } catch {
                throw CommandError.failed("the relay's \(what) cannot be recorded: \(error)")
            }
            guard try parts.allSatisfy(consume) else { return }
        }
    }

    /// Passes events to `consume`, until the relay ends the stream or `consume` returns `false`.
    ///
    /// - Parameter id: The event after which to begin; `nil` for none. Becomes the last one that the relay has named.
    /// - Throws: ``RelayError``, and what `consume` throws.
    func events(
        _ query: EventQuery,
        after id: inout String?,
        to consume: (ServerSentEvents.Event) throws -> Bool
    ) async throws {
        let headers = id.map { [(name: "last-event-id", value: $0)] } ?? []
        let stream = try await stream(
            Routes.listenForEvents,
            query,
            headers: headers,
            "broke the stream of events off"
        )
        var events = ServerSentEvents()
        for try await bytes in stream.body {
            let found = events.read(bytes.readableBytesView)
            if !events.id.isEmpty { id = events.id }
            guard try found.allSatisfy(consume) else { return }
        }
    }

    /// A range of the bytes of something in the library.
    struct Part: Sendable {
        /// The range's first byte.
        let first: UInt64
        /// The range's last byte.
        let last: UInt64
        /// How many bytes all of it has.
        let total: UInt64
        /// Stays while the bytes do.
        let tag: String?
        let body: AnswerBody
    }

    /// Asks for a range of an item's bytes.
    ///
    /// - Parameter range: As in a `Range` field (RFC 9110, 14.2): `bytes=100-`.
    func part<Arguments>(
        _ range: String,
        of item: String,
        _ call: Call<Arguments, Bytes>,
        _ query: Arguments
    ) async throws(RelayError) -> Part {
        let stream = try await stream(
            call,
            query,
            at: .item(item),
            headers: [(name: "range", value: range)],
            "broke the download off"
        )
        // `bytes 100-199/1234`
        let words = (stream.header("content-range") ?? "").split { " -/".contains($0) }
        guard words.count == 4, let first = UInt64(words[1], radix: 10), let last = UInt64(words[2], radix: 10),
            let total = UInt64(words[3], radix: 10), first <= last, last < total
        else {
            throw RelayError(
                .notUnderstood,
                "\(url) does not answer like a relay of this release: it sends no range"
            )
        }
        return Part(first: first, last: last, total: total, tag: stream.header("etag"), body: stream.body)
    }

    /// Passes the bytes of a copy of the library's catalogue to `consume`.
    ///
    /// - Parameter mark: The caller's own copy's; `nil` if it has none.
    /// - Returns: Whether there are any. There are none if the caller has everything.
    /// - Throws: ``RelayError``, and what `consume` throws.
    func catalogue(since mark: String?, to consume: (ByteBuffer) throws -> Void) async throws -> Bool {
        var query = CatalogueQuery()
        query.since = mark
        let stream = try await stream(
            Routes.getLibraryCatalogue,
            query,
            headers: mark.map { [(name: "if-none-match", value: "\"\($0)\"")] } ?? [],
            "broke the download off"
        )
        guard stream.status != 304 else { return false }
        for try await bytes in stream.body { try consume(bytes) }
        return true
    }
}
