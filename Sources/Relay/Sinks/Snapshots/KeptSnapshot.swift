package import Media
package import NIOCore
package import Wire

/// A snapshot from an agent. All callers that want it share its bytes.
package struct KeptSnapshot: Sendable, Equatable {
    package let size: PictureSize
    /// When the frame was captured, monotonic ns.
    package let captured: UInt64
    /// Clockwise quarter turns that make it upright, 0 to 3.
    package let orientation: UInt8
    /// What its coordinates mean; 0 if the agent does not say. See ``Snapshot/Picture/geometry``.
    package let geometry: UInt32
    package let bytes: ByteBuffer
    /// When it was requested. It shows the screen at that instant or later.
    package let asked: NIODeadline

    package init(_ picture: Snapshot.Picture, asked: NIODeadline) {
        size = picture.size
        captured = picture.captured
        orientation = picture.orientation
        geometry = picture.geometry
        bytes = ByteBuffer(bytes: picture.bytes)
        self.asked = asked
    }

    /// Returns the capture time in the session's time, µs since its epoch.
    ///
    /// - Parameter epoch: Monotonic ns.
    package func pts(epoch: UInt64) -> Int64 {
        // The agent's value may be anything, so the difference may overflow.
        let difference = Int64(clamping: captured).subtractingReportingOverflow(Int64(clamping: epoch))
        return difference.overflow ? 0 : difference.partialValue / 1000
    }
}

/// Why no snapshot is available.
package enum SnapshotFailure: Error, Sendable, Equatable {
    /// No agent feeds the session.
    case noSource
    /// The caller wants a fresh picture, and the session's source does not deliver.
    case sourceLost
    case refused(Snapshot.Refusal)
    case timeout(TimeAmount)
    /// The limit of waiting callers is reached.
    case tooManyWait(limit: Int)
    /// The session has ended.
    case ended
}
