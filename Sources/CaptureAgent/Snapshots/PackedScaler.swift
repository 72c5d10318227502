import CLibAV
import CYUV
import Media

/// What brings a packed picture to another size.
package enum PackedScaler: Sendable {
    /// libswscale's bicubic kernel, the one that scales video (``BicubicScaler``); libyuv's means where the library is missing.
    case best
    /// libyuv alone.
    case box

    /// Fills the content of `fit` in `output`.
    func scale(_ source: PackedPicture, into output: PackedPicture, _ fit: PictureFit) {
        let target = output.first + fit.y * output.description.stride + fit.x * PixelFormat.bytesPerPixel
        if self == .best, Self.bicubic(source, into: target, stride: output.description.stride, fit.content) {
            // Its vector code writes beyond the end of a row.
            output.clear(rightOf: fit)
            return
        }
        // It refuses only null pointers and empty sizes. Which colour a byte is of makes no difference to it.
        _ = ARGBScale(
            source.first,
            Int32(source.description.stride),
            Int32(source.description.size.width),
            Int32(source.description.size.height),
            target,
            Int32(output.description.stride),
            Int32(fit.content.width),
            Int32(fit.content.height),
            kFilterBox
        )
    }

    /// Returns whether libswscale is there and takes the sizes.
    private static func bicubic(
        _ source: PackedPicture,
        into target: UnsafeMutablePointer<UInt8>,
        stride: Int,
        _ size: PictureSize
    ) -> Bool {
        let format = source.description.format.blueFirst ? AV_PIX_FMT_BGR0 : AV_PIX_FMT_RGB0
        guard let functions = BicubicScaler.functions,
            let context = functions.sws_getContext(
                Int32(source.description.size.width),
                Int32(source.description.size.height),
                format,
                Int32(size.width),
                Int32(size.height),
                format,
                // Colours at every pixel, not at every other one as in video.
                SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP,
                nil,
                nil,
                nil
            )
        else { return false }
        defer { functions.sws_freeContext(context) }
        let sources: [UnsafePointer<UInt8>?] = [UnsafePointer(source.first), nil, nil, nil]
        let targets: [UnsafeMutablePointer<UInt8>?] = [target, nil, nil, nil]
        // It fails for wrong slices only.
        _ = functions.sws_scale(
            context,
            sources,
            [Int32(source.description.stride), 0, 0, 0],
            0,
            Int32(source.description.size.height),
            targets,
            [Int32(stride), 0, 0, 0]
        )
        return true
    }
}

extension PackedPicture {
    fileprivate func clear(rightOf fit: PictureFit) {
        let right = (fit.x + fit.content.width) * PixelFormat.bytesPerPixel
        let rest = description.size.width * PixelFormat.bytesPerPixel - right
        guard rest > 0 else { return }
        for row in fit.y..<(fit.y + fit.content.height) {
            (first + row * description.stride + right).update(repeating: 0, count: rest)
        }
    }
}
