import CColour
import CYUV
package import Media

/// Brings frames of one size into pictures of another: scaled with the aspect ratio kept, black borders, BT.709 limited range.
///
/// Colours are converted first and planes scaled after: libyuv scales planes exactly, where its scaler for packed pixels
/// turns white (255) into 253. The pointer is drawn before both. Owned by one encoder thread.
package struct PictureScaler: ~Copyable {
    package let source: PictureSize
    package let fit: PictureFit
    /// The whole source in 4:2:0, before it is scaled; nil where nothing is scaled.
    private let unscaled: I420Picture?

    package init(source: PictureSize, output: PictureSize) {
        self.source = source
        fit = PictureFit(source: source, output: output)
        unscaled = fit.isUnscaled ? nil : I420Picture(size: source.even)
    }

    /// Fills `picture`, whose size is the output's, from `frame`, whose size is the source's, with `pointer` drawn over it.
    package func convert(_ frame: FramePixels, pointer: Pointer? = nil, into picture: I420Picture) {
        let converted = unscaled ?? picture
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
        guard let unscaled else { return }
        if fit.hasBorders { picture.clear() }
        let planes = picture.planes(x: fit.x, y: fit.y)
        // It refuses only null pointers and empty sizes.
        _ = I420Scale(
            unscaled.y,
            Int32(unscaled.lumaStride),
            unscaled.u,
            Int32(unscaled.chromaStride),
            unscaled.v,
            Int32(unscaled.chromaStride),
            Int32(unscaled.size.width),
            Int32(unscaled.size.height),
            planes.y,
            Int32(planes.y_stride),
            planes.u,
            Int32(planes.chroma_stride),
            planes.v,
            Int32(planes.chroma_stride),
            Int32(fit.content.width),
            Int32(fit.content.height),
            kFilterBox
        )
    }
}
