package import Media

/// A file format that a single picture is made in.
package enum SnapshotFormat: UInt8, Sendable, Hashable, CaseIterable {
    case jpeg = 1
    case png = 2
}

/// Asks for a picture of a session as a file of its own.
package struct SnapshotRequest: Sendable, Equatable {
    /// What the answer carries, so that it is told from that to another request.
    package var id: UInt32
    package var format: SnapshotFormat
    /// Of a JPEG, 1 to 100.
    package var quality: UInt8
    /// Whether the picture is to be captured after the request has come, as far as the screen changes.
    package var isFresh: Bool

    package init(id: UInt32, format: SnapshotFormat, quality: UInt8, isFresh: Bool) {
        self.id = id
        self.format = format
        self.quality = quality
        self.isFresh = isFresh
    }
}

/// The answer to a ``SnapshotRequest``.
package struct Snapshot: Sendable, Equatable {
    /// Why there is no picture.
    package enum Refusal: UInt8, Sendable, Hashable, CaseIterable {
        /// The agent has no such session.
        case unknownSession = 1
        /// The source has brought no frame yet.
        case noFrame = 2
        /// The frame is in a DMA-BUF, which only an encoder reads.
        case unreadable = 3
        /// The file would be larger than a packet may be.
        case tooLarge = 4
        /// Too many requests wait in the agent.
        case busy = 5
        /// The library that makes such files failed.
        case failed = 6
    }

    /// The largest file that a packet has room for, bytes.
    package static let maximumFile = PacketHeader.maximumLength - SnapshotBody.fixedByteCount

    package struct Picture: Sendable, Equatable {
        package var format: SnapshotFormat
        /// When the frame was captured, on the machine's monotonic clock in ns.
        package var captured: UInt64
        /// Clockwise quarter turns that make the picture upright, 0 to 3.
        package var orientation: UInt8
        /// The session's, borders included.
        package var size: PictureSize
        /// The file, at least one byte.
        package var bytes: [UInt8]

        package init(
            format: SnapshotFormat,
            captured: UInt64,
            orientation: UInt8,
            size: PictureSize,
            bytes: [UInt8]
        ) {
            self.format = format
            self.captured = captured
            self.orientation = orientation
            self.size = size
            self.bytes = bytes
        }
    }

    /// The request's id.
    package var request: UInt32
    package var outcome: Outcome

    package enum Outcome: Sendable, Equatable {
        case picture(Picture)
        case refusal(Refusal)
    }

    package init(request: UInt32, outcome: Outcome) {
        self.request = request
        self.outcome = outcome
    }
}
