import HeliographAPI
import NIOCore
import NIOHTTP1

extension Screen {
    /// Watches the session: its pictures, its sound and its events, as they come.
    ///
    ///     let live = try await screen.watch()
    ///     defer { live.close() }
    ///     for try await unit in live.video { decoder.decode(unit) }
    ///
    /// - Throws: ``RelayError`` if the relay cannot be reached, or refuses.
    public func watch() async throws(RelayError) -> LiveSession {
        try relay.requireOpen()
        return LiveSession(try await .connect(to: LivePlace(place.session, of: relay.target)))
    }

    /// Returns a picture of the screen.
    ///
    ///     let picture = try await screen.snapshot()
    ///     try Data(picture.bytes).write(to: file)
    ///
    /// - Parameters:
    ///   - format: How the picture is compressed.
    ///   - isFresh: Whether the frame must be captured after the call, if the screen changes. Otherwise it may be up to
    ///     1 s old.
    public func snapshot(
        _ format: Snapshot.Format = .png,
        isFresh: Bool = true
    ) async throws(RelayError) -> Snapshot {
        var query = SnapshotQuery()
        query.fresh = isFresh
        let answer = try await relay.answer(
            to: format == .png ? Routes.takePNG : Routes.takeJPEG,
            query,
            at: place.session,
            limit: RelayClient.longestImage
        )
        return Snapshot(
            bytes: Array(answer.bytes.readableBytesView),
            pts: answer.headers.first(name: "heliograph-pts").flatMap { Int64($0, radix: 10) },
            geometry: answer.headers.first(name: "heliograph-geometry").flatMap { UInt32($0, radix: 10) }
        )
    }
}

/// A picture of a screen.
public struct Snapshot: Sendable {
    public enum Format: Sendable {
        case png, jpeg
    }

    /// The image file.
    public let bytes: [UInt8]
    /// When its frame was captured, on the session's clock, µs; `nil` if no agent feeds the session.
    public let pts: Int64?
    /// What places in it mean: give it to ``ActionOptions/geometry``, and nothing is done if the screen has changed.
    public let geometry: UInt32?
}
