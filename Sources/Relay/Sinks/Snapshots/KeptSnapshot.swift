package import Media
package import NIOCore
package import Wire

/// A snapshot as it came from an agent, with bytes that all who want it share.
package struct KeptSnapshot: Sendable, Equatable {
    package let size: PictureSize
    /// When the frame was captured, monotonic ns.
    package let captured: UInt64
    /// Clockwise quarter turns that make it upright, 0 to 3.
    package let orientation: UInt8
    package let bytes: ByteBuffer
    /// When it was asked for: it shows the screen of then or later.
    package let asked: NIODeadline

    package init(_ picture: Snapshot.Picture, asked: NIODeadline) {
        size = picture.size
        captured = picture.captured
        orientation = picture.orientation
        bytes = ByteBuffer(bytes: picture.bytes)
        self.asked = asked
    }

    /// The place in the session's time, µs since its epoch.
    ///
    /// - Parameter epoch: Monotonic ns.
    package func pts(epoch: UInt64) -> Int64 {
        // An agent may say anything.
        let difference = Int64(clamping: captured).subtractingReportingOverflow(Int64(clamping: epoch))
        return difference.overflow ? 0 : difference.partialValue / 1000
    }
}

/// Why there is no snapshot.
package enum SnapshotFailure: Error, Sendable, Equatable {
    /// No agent feeds the session.
    case noSource
    /// A fresh picture is wanted, and the session's source delivers none.
    case sourceLost
    case refused(Snapshot.Refusal)
    case timeout(TimeAmount)
    /// As many as this wait already.
    case tooManyWait(limit: Int)
    /// The session has ended.
    case ended
}
