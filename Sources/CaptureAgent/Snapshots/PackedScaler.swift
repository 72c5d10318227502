import CLibAV
import CYUV
import Media

/// A scaler of packed pictures.
package enum PackedScaler: Sendable {
    /// libswscale's bicubic kernel, which also scales video (``BicubicScaler``); libyuv's box averages if the library
    /// is missing.
    case best
    /// libyuv alone.
    case box

    /// Scales `source` into the content of `fit` in `output`.
    func scale(_ source: PackedPicture, into output: PackedPicture, _ fit: PictureFit) {
        let target = output.first + fit.y * output.description.stride + fit.x * PixelFormat.bytesPerPixel
        if self == .best, Self.bicubic(source, into: target, stride: output.description.stride, fit.content) {
            // The vector code writes beyond the end of a row.
            output.clear(rightOf: fit)
            return
        }
        // It fails only for null pointers and empty sizes. It treats all colour bytes alike, so their order does not
        // matter.
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

    /// Scales with libswscale.
    ///
    /// - Returns: Whether libswscale is available and accepts the sizes.
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
                // Colours at full resolution, not halved as in video.
                SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP,
                nil,
                nil,
                nil
            )
        else { return false }
        defer { functions.sws_freeContext(context) }
        let sources: [UnsafePointer<UInt8>?] = [UnsafePointer(source.first), nil, nil, nil]
        let targets: [UnsafeMutablePointer<UInt8>?] = [target, nil, nil, nil]
        // It fails only for invalid slices.
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
