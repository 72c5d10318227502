import CColour
package import Media

/// Converts frames of one size into pictures of another: aspect ratio kept, black borders, BT.709 limited range.
///
/// The pointer is drawn first, then colours are converted, then planes are scaled. Owned by one encoder thread.
package struct PictureScaler: ~Copyable {
    package let source: PictureSize
    package let fit: PictureFit
    /// The whole source as planes before scaling, and its scaler; `nil` if nothing is scaled.
    private let scaling: (unscaled: PlanarPicture, planes: any PlaneScaler)?

    /// - Parameter planeScaler: Creates a scaler of planes from one size to another.
    package init(
        source: PictureSize,
        output: PictureSize,
        chroma: ChromaSampling = .quarter,
        planeScaler: (PictureSize, PictureSize, ChromaSampling) -> any PlaneScaler = PictureScaler.bestPlaneScaler
    ) {
        self.source = source
        let fit = PictureFit(source: source, output: output)
        self.fit = fit
        if fit.isUnscaled {
            scaling = nil
        } else {
            let unscaled = PlanarPicture(size: source.even, chroma: chroma)
            scaling = (unscaled, planeScaler(source.even, fit.content, chroma))
        }
    }

    /// Returns libswscale's scaler if the library can be loaded, otherwise libyuv's.
    package static func bestPlaneScaler(
        source: PictureSize,
        output: PictureSize,
        chroma: ChromaSampling
    ) -> any PlaneScaler {
        BicubicScaler(source: source, output: output, chroma: chroma)
            ?? BoxScaler(source: source, output: output, chroma: chroma)
    }

    /// Fills `picture`, which has the output's size and chroma, from `frame`, which has the source's size, and draws
    /// `pointer` over it.
    package func convert(_ frame: FramePixels, pointer: Pointer? = nil, into picture: PlanarPicture) {
        let converted = scaling?.unscaled ?? picture
        frame.withFirst { pixels in
            let pixels = pixels.assumingMemoryBound(to: UInt8.self)
            let blueFirst = frame.description.format.blueFirst
            let source = ccolour_picture(
                pixels: pixels,
                stride: frame.description.stride,
                width: converted.size.width,
                height: converted.size.height,
                blue_first: blueFirst
            )
            converted.convert(source, toX: 0, y: 0)
            guard let patch = pointer.flatMap({ PointerPatch($0, within: converted.size) }) else { return }
            patch.compose(over: pixels, frame.description).withUnsafeBufferPointer { composed in
                let source = ccolour_picture(
                    pixels: composed.baseAddress,
                    stride: patch.size.width * PixelFormat.bytesPerPixel,
                    width: patch.size.width,
                    height: patch.size.height,
                    blue_first: blueFirst
                )
                converted.convert(source, toX: patch.x, y: patch.y)
            }
        }
        guard let scaling else { return }
        scaling.planes.scale(scaling.unscaled, into: picture.planes(x: fit.x, y: fit.y))
        // After scaling, because a scaler may write beyond the content's right edge.
        if fit.hasBorders { picture.clearBorders(of: fit) }
    }
}
