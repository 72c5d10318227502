import NIOCore
import Wire

extension Session {
    /// A still that is asked for at `since` or later.
    ///
    /// - Parameters:
    ///   - isFresh: Whether its frame is to be captured after that as well, as far as the screen changes.
    ///   - isUse: Whether the session is in use while it waits.
    func still(
        _ format: StillFormat,
        since: NIODeadline,
        isFresh: Bool,
        isUse: Bool
    ) async throws(StillFailure) -> KeptStill {
        if isUse { snapshotsInUse += 1 }
        defer { if isUse { snapshotsInUse -= 1 } }
        if isFresh, feed.feeds.current != nil, feed.feeds.source == .none { throw .sourceLost }
        return try await stills.still(format, since: since, isFresh: isFresh).get()
    }

    /// A new viewer, nil when there is no room for it.
    func makeMJPEGViewer(on channel: any Channel, fps: Int) -> MJPEGViewer? {
        let viewer = MJPEGViewer(channel: channel, epoch: epoch, fps: fps, stills: stills, limits: viewerLimits)
        return admit(viewer) ? viewer : nil
    }
}
