/// Where a source picture lies inside an output picture: scaled with its aspect ratio kept, centred, black borders around.
package struct PictureFit: Sendable, Equatable {
    /// The output picture's size, both sides even.
    package let output: PictureSize
    /// The scaled source's size, both sides even and no larger than the output.
    package let content: PictureSize
    /// The content's left edge in the output, in pixels, even so that chroma samples stay aligned.
    package let x: Int
    /// The content's top edge in the output, in pixels, even.
    package let y: Int

    /// Whether pixels are copied one to one. An odd source loses its last column or row, rather than being resampled.
    package let isUnscaled: Bool

    /// Whether the content leaves a part of the output black.
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
        // Compares source.width / source.height with output.width / output.height without division.
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

/// The size that a session asks for; what it leaves open follows the source.
package struct RequestedSize: Sendable, Hashable, Codable {
    package var width: Int?
    package var height: Int?
    /// Upper bound of width times height; a larger picture is made smaller with its aspect ratio kept.
    package var maxPixels: Int?

    package init(width: Int? = nil, height: Int? = nil, maxPixels: Int? = nil) {
        self.width = width
        self.height = height
        self.maxPixels = maxPixels
    }

    /// The longest side that may be asked for, and the longest of one that follows from another.
    private static let longestSide = 8192

    /// The output size for a source of size `source`, both sides even.
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

    /// The size, or the largest one of its aspect ratio that is allowed.
    private static func bounded(_ size: PictureSize) -> PictureSize {
        let longest = max(size.width, size.height)
        guard longest > longestSide else { return size }
        return PictureSize(width: size.width * longestSide / longest, height: size.height * longestSide / longest)
    }
}
