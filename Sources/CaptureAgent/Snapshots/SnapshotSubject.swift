package import Media
package import Wire

/// The content of a session's snapshot.
package struct SnapshotSubject: Sendable {
    package var frame: CapturedFrame
    /// The size that the session asks for.
    package var size: RequestedSize

    package init(frame: CapturedFrame, size: RequestedSize) {
        self.frame = frame
        self.size = size
    }

    /// Returns the picture that viewers see of the frame.
    package func drawn() -> Result<SnapshotDrawing, SnapshotRefusal> {
        guard case .memory(let pixels) = frame.contents else { return .failure(SnapshotRefusal(.unreadable)) }
        let source = frame.description.size
        let fit = PictureFit(source: source, output: size.resolved(source: source))
        let picture = PackedPicture(pixels, pointer: frame.pointer).fitted(fit)
        let mapping = InputMapping(source: source, orientation: frame.orientation, size: size)
        return .success(
            SnapshotDrawing(
                picture: picture,
                captured: frame.captured,
                orientation: frame.orientation,
                geometry: mapping.geometry
            )
        )
    }
}

/// A snapshot before it becomes a file. It shares nothing with the frame, whose buffer belongs to the source.
package struct SnapshotDrawing {
    let picture: PackedPicture
    /// Capture time of the frame, in ns (monotonic).
    let captured: UInt64
    let orientation: UInt8
    /// What coordinates in the picture mean.
    let geometry: UInt32

    /// Encodes the file.
    package func file(format: SnapshotFormat, quality: UInt8) -> Snapshot.Outcome {
        let file = SnapshotFile.bytes(of: picture, format: format, quality: quality, orientation: orientation)
        guard let file else { return .refusal(.failed) }
        guard file.count <= Snapshot.maximumFile else { return .refusal(.tooLarge) }
        return .picture(
            Snapshot.Picture(
                format: format,
                captured: captured,
                orientation: orientation,
                size: picture.description.size,
                geometry: geometry,
                bytes: file
            )
        )
    }
}

/// The reason why a session has nothing to show.
package struct SnapshotRefusal: Error, Equatable {
    package let why: Snapshot.Refusal

    package init(_ why: Snapshot.Refusal) { self.why = why }
}
