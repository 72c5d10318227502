import CColour
package import Media

/// Converts frames of one size into pictures of another: aspect ratio kept, black borders, BT.709 limited range.
///
/// The pointer is drawn first, then colours are converted, then planes are scaled. Owned by one encoder thread.
package struct PictureScaler: ~Copyable {
    package let source: PictureSize
    package let fit: PictureFit
    /// The whole source in 4:2:0 before scaling, and its scaler; `nil` if nothing is scaled.
    private let scaling: (unscaled: I420Picture, planes: any PlaneScaler)?

    /// - Parameter planeScaler: Creates a scaler of planes from one size to another.
    package init(
        source: PictureSize,
        output: PictureSize,
        planeScaler: (PictureSize, PictureSize) -> any PlaneScaler = PictureScaler.bestPlaneScaler
    ) {
        self.source = source
        let fit = PictureFit(source: source, output: output)
        self.fit = fit
        scaling = fit.isUnscaled ? nil : (I420Picture(size: source.even), planeScaler(source.even, fit.content))
    }

    /// Returns libswscale's scaler if the library can be loaded, otherwise libyuv's.
    package static func bestPlaneScaler(source: PictureSize, output: PictureSize) -> any PlaneScaler {
        BicubicScaler(source: source, output: output) ?? BoxScaler(source: source, output: output)
    }

    /// Fills `picture`, which has the output's size, from `frame`, which has the source's size, and draws `pointer`
    /// over it.
    package func convert(_ frame: FramePixels, pointer: Pointer? = nil, into picture: I420Picture) {
        let converted = scaling?.unscaled ?? picture
        frame.withFirst { pixels in
            let pixels = pixels.assumingMemoryBound(to: UInt8.self)
            let blueFirst = frame.description.format.blueFirst
            ccolour_rgb_to_i420(
                pixels,
                frame.description.stride,
                converted.size.width,
                converted.size.height,
                blueFirst,
                converted.planes(x: 0, y: 0)
            )
            guard let patch = pointer.flatMap({ PointerPatch($0, within: converted.size) }) else { return }
            ccolour_rgb_to_i420(
                patch.compose(over: pixels, frame.description),
                patch.size.width * PixelFormat.bytesPerPixel,
                patch.size.width,
                patch.size.height,
                blueFirst,
                converted.planes(x: patch.x, y: patch.y)
            )
        }
        guard let scaling else { return }
        scaling.planes.scale(scaling.unscaled, into: picture.planes(x: fit.x, y: fit.y))
        // After scaling, because a scaler may write beyond the content's right edge.
        if fit.hasBorders { picture.clearBorders(of: fit) }
    }
}
