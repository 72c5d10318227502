package import CColour
import CLibAV
package import Media

/// libswscale's bicubic scaler, which takes all source samples into account however small the picture gets.
///
/// The library is loaded when the first picture is to be scaled: linked, it would bring 18 shared objects into every agent.
package final class BicubicScaler: PlaneScaler {
    static let functions: clibav_scale_functions? = {
        var functions = clibav_scale_functions()
        return clibav_load_scale(&functions) == nil ? functions : nil
    }()

    private let functions: clibav_scale_functions
    private let context: OpaquePointer

    /// - Returns: nil where the library is missing or does not take the sizes.
    package init?(source: PictureSize, output: PictureSize) {
        guard let functions = Self.functions,
            let context = functions.sws_getContext(
                Int32(source.width),
                Int32(source.height),
                AV_PIX_FMT_YUV420P,
                Int32(output.width),
                Int32(output.height),
                AV_PIX_FMT_YUV420P,
                SWS_BICUBIC | SWS_ACCURATE_RND,
                nil,
                nil,
                nil
            )
        else { return nil }
        self.functions = functions
        self.context = context
    }

    deinit {
        functions.sws_freeContext(context)
    }

    package func scale(_ picture: I420Picture, into planes: ccolour_planes) {
        let source: [UnsafePointer<UInt8>?] = [
            UnsafePointer(picture.y), UnsafePointer(picture.u), UnsafePointer(picture.v),
        ]
        let sourceStrides = [picture.lumaStride, picture.chromaStride, picture.chromaStride].map { Int32($0) }
        let output: [UnsafeMutablePointer<UInt8>?] = [planes.y, planes.u, planes.v]
        let outputStrides = [planes.y_stride, planes.chroma_stride, planes.chroma_stride].map { Int32($0) }
        // It fails for wrong slices only.
        _ = functions.sws_scale(
            context,
            source,
            sourceStrides,
            0,
            Int32(picture.size.height),
            output,
            outputStrides
        )
    }
}
