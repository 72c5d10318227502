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
    ///
    /// - Parameter side: The longest side of a preview, which is upright; 0 for a picture as in the session.
    package func drawn(within side: Int = 0) -> Result<SnapshotDrawing, SnapshotRefusal> {
        guard case .memory(let pixels) = frame.contents else { return .failure(SnapshotRefusal(.unreadable)) }
        let source = frame.description.size
        let own = size.resolved(source: source)
        let fit = PictureFit(source: source, output: side == 0 ? own : own.within(side))
        let picture = PackedPicture(pixels, pointer: frame.pointer).fitted(fit)
        guard side == 0 else {
            let upright = picture.turned(frame.orientation)
            return .success(SnapshotDrawing(picture: upright, captured: frame.captured, orientation: 0, geometry: 0))
        }
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

extension PictureSize {
    /// Returns the size, scaled down so that no side is longer.
    fileprivate func within(_ side: Int) -> PictureSize {
        let longest = max(width, height)
        guard longest > side else { return self }
        func scaled(_ length: Int) -> Int { max(2, length * side / longest) }
        return PictureSize(width: scaled(width), height: scaled(height)).even
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
