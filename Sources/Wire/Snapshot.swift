package import Media

/// The file format of a snapshot.
package enum SnapshotFormat: UInt8, Sendable, Hashable, CaseIterable {
    case jpeg = 1
    case png = 2
}

/// A request for a snapshot of a session.
package struct SnapshotRequest: Sendable, Equatable {
    /// The id that the answer carries, to distinguish it from other answers.
    package var id: UInt32
    package var format: SnapshotFormat
    /// The quality of a JPEG, 1 to 100.
    package var quality: UInt8
    /// Whether the frame must be captured after the request has come, unless the screen does not change.
    package var isFresh: Bool
    /// The longer side of a preview in units of 16 pixels: the picture is scaled down to it and turned upright; 0 for a
    /// picture as in the session.
    package var side: UInt8

    package init(id: UInt32, format: SnapshotFormat, quality: UInt8, isFresh: Bool, side: UInt8 = 0) {
        self.id = id
        self.format = format
        self.quality = quality
        self.isFresh = isFresh
        self.side = side
    }
}

/// The answer to a ``SnapshotRequest``.
package struct Snapshot: Sendable, Equatable {
    /// The reason why there is no snapshot.
    package enum Refusal: UInt8, Sendable, Hashable, CaseIterable {
        /// The agent has no such session.
        case unknownSession = 1
        /// The source has not delivered a frame yet.
        case noFrame = 2
        /// The frame is in a DMA-BUF, which only an encoder can read.
        case unreadable = 3
        /// The file would be too large for a packet.
        case tooLarge = 4
        /// Too many requests are waiting in the agent.
        case busy = 5
        /// The library that makes the file failed.
        case failed = 6
    }

    /// The largest file that fits into a packet, in bytes.
    package static let maximumFile = PacketHeader.maximumLength - SnapshotBody.maximumFixedByteCount

    package struct Picture: Sendable, Equatable {
        package var format: SnapshotFormat
        /// Capture time of the frame, in ns (monotonic).
        package var captured: UInt64
        /// Clockwise quarter turns that make the picture upright, 0 to 3.
        package var orientation: UInt8
        /// The session's size, including borders.
        package var size: PictureSize
        /// What coordinates in the picture mean: a number that differs when the size of the screen, the session's size
        /// or the orientation does. 0 if the agent does not say.
        package var geometry: UInt32
        /// The file, at least one byte.
        package var bytes: [UInt8]

        package init(
            format: SnapshotFormat,
            captured: UInt64,
            orientation: UInt8,
            size: PictureSize,
            geometry: UInt32 = 0,
            bytes: [UInt8]
        ) {
            self.format = format
            self.captured = captured
            self.orientation = orientation
            self.size = size
            self.geometry = geometry
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
