/// The place of a source picture in an output picture: scaled with its aspect ratio kept, centred, with black borders.
package struct PictureFit: Sendable, Equatable {
    /// The size of the output picture; both sides even.
    package let output: PictureSize
    /// The size of the scaled source; both sides even and no larger than the output.
    package let content: PictureSize
    /// The content's left edge in the output, in pixels. Even, so that chroma samples stay aligned.
    package let x: Int
    /// The content's top edge in the output, in pixels, even.
    package let y: Int

    /// Whether pixels are copied one to one. An odd source then loses its last column or row instead of being
    /// resampled.
    package let isUnscaled: Bool

    /// Whether a part of the output stays black.
    package var hasBorders: Bool { content != output }

    /// Fits `source` into `output` (letterbox or pillarbox).
    package init(source: PictureSize, output: PictureSize) {
        let output = output.even
        self.output = output
        isUnscaled = source.even == output
        guard !isUnscaled else {
            (content, x, y) = (output, 0, 0)
            return
        }
        // Compares the aspect ratios source.width / source.height and output.width / output.height without division.
        if source.width * output.height >= output.width * source.height {
            let height = (output.width * source.height + source.width / 2) / max(1, source.width)
            content = PictureSize(width: output.width, height: min(height, output.height)).even
        } else {
            let width = (output.height * source.width + source.height / 2) / max(1, source.height)
            content = PictureSize(width: min(width, output.width), height: output.height).even
        }
        x = (output.width - content.width) / 4 * 2
        y = (output.height - content.height) / 4 * 2
    }
}

/// The size that a session asks for. Missing values follow the source.
package struct RequestedSize: Sendable, Hashable, Codable {
    package var width: Int?
    package var height: Int?
    /// The upper bound of width times height. A larger picture is reduced with its aspect ratio kept.
    package var maxPixels: Int?

    package init(width: Int? = nil, height: Int? = nil, maxPixels: Int? = nil) {
        self.width = width
        self.height = height
        self.maxPixels = maxPixels
    }

    /// The longest side that a session may ask for, or that may follow from the other side.
    private static let longestSide = 8192

    /// Returns the output size for a source of size `source`; both sides even.
    package func resolved(source: PictureSize) -> PictureSize {
        var size: PictureSize
        switch (width, height) {
        case (let width?, let height?):
            size = PictureSize(width: width, height: height)
        case (let width?, nil):
            size = Self.bounded(PictureSize(width: width, height: width * source.height / max(1, source.width)))
        case (nil, let height?):
            size = Self.bounded(PictureSize(width: height * source.width / max(1, source.height), height: height))
        case (nil, nil):
            size = source
        }
        if let maxPixels, size.width * size.height > maxPixels {
            let factor = (Double(maxPixels) / Double(size.width * size.height)).squareRoot()
            size = PictureSize(width: Int(Double(size.width) * factor), height: Int(Double(size.height) * factor))
        }
        return size.even
    }

    /// Returns the size, or the largest allowed size with its aspect ratio.
    private static func bounded(_ size: PictureSize) -> PictureSize {
        let longest = max(size.width, size.height)
        guard longest > longestSide else { return size }
        return PictureSize(width: size.width * longestSide / longest, height: size.height * longestSide / longest)
    }
}
