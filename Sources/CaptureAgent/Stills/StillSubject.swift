package import Media
package import Wire

/// What a still of a session shows.
package struct StillSubject: Sendable {
    package var frame: CapturedFrame
    /// The session's.
    package var size: RequestedSize

    package init(frame: CapturedFrame, size: RequestedSize) {
        self.frame = frame
        self.size = size
    }

    /// The picture that viewers see of the frame.
    package func drawn() -> Result<StillDrawing, StillRefusal> {
        guard case .memory(let pixels) = frame.contents else { return .failure(StillRefusal(.unreadable)) }
        let source = frame.description.size
        let fit = PictureFit(source: source, output: size.resolved(source: source))
        let picture = PackedPicture(pixels, pointer: frame.pointer).fitted(fit)
        return .success(StillDrawing(picture: picture, captured: frame.captured, orientation: frame.orientation))
    }
}

/// A still before it is a file. It shares nothing with the frame, whose buffer is the source's.
package struct StillDrawing {
    let picture: PackedPicture
    /// Of the frame.
    let captured: UInt64
    let orientation: UInt8

    /// Makes the file.
    package func file(format: StillFormat, quality: UInt8) -> Still.Outcome {
        let file = StillFile.bytes(of: picture, format: format, quality: quality, orientation: orientation)
        guard let file else { return .refusal(.failed) }
        guard file.count <= Still.maximumFile else { return .refusal(.tooLarge) }
        return .picture(
            Still.Picture(
                format: format,
                captured: captured,
                orientation: orientation,
                size: picture.description.size,
                bytes: file
            )
        )
    }
}

/// Why a session has nothing to show.
package struct StillRefusal: Error, Equatable {
    package let why: Still.Refusal

    package init(_ why: Still.Refusal) { self.why = why }
}
