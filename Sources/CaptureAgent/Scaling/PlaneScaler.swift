package import CColour
import CLibAV
import CYUV
package import Media

/// A scaler for the planes of pictures, from one size to another. Owned by one encoder thread.
package protocol PlaneScaler: AnyObject {
    /// Fills `planes`, which have the output's size, from `picture`, which has the source's size, with the same chroma.
    func scale(_ picture: PlanarPicture, into planes: ccolour_planes)
}

/// libyuv's scaler, for machines without libswscale: box averages for strong reductions, otherwise bilinear.
package final class BoxScaler: PlaneScaler {
    private let output: PictureSize
    private let chroma: ChromaSampling

    /// - Parameter source: Ignored, because the pictures have it.
    package init(source: PictureSize, output: PictureSize, chroma: ChromaSampling) {
        self.output = output
        self.chroma = chroma
    }

    package func scale(_ picture: PlanarPicture, into planes: ccolour_planes) {
        let scalePlanes =
            switch chroma {
            case .quarter: I420Scale
            case .full: I444Scale
            }
        // It fails only for null pointers and empty sizes.
        _ = scalePlanes(
            picture.y,
            Int32(picture.lumaStride),
            picture.u,
            Int32(picture.chromaStride),
            picture.v,
            Int32(picture.chromaStride),
            Int32(picture.size.width),
            Int32(picture.size.height),
            planes.y,
            Int32(planes.y_stride),
            planes.u,
            Int32(planes.chroma_stride),
            planes.v,
            Int32(planes.chroma_stride),
            Int32(output.width),
            Int32(output.height),
            kFilterBox
        )
    }
}

/// libswscale's bicubic scaler, which uses all source samples however small the output is.
///
/// The library is loaded for the first picture that needs scaling. Linking it would load 18 shared objects into every
/// agent.
package final class BicubicScaler: PlaneScaler {
    static let functions: clibav_scale_functions? = {
        var functions = clibav_scale_functions()
        return clibav_load_scale(&functions) == nil ? functions : nil
    }()

    private let functions: clibav_scale_functions
    private let context: OpaquePointer

    /// - Returns: `nil` if the library is missing or rejects the sizes.
    package init?(source: PictureSize, output: PictureSize, chroma: ChromaSampling) {
        let format =
            switch chroma {
            case .quarter: AV_PIX_FMT_YUV420P
            case .full: AV_PIX_FMT_YUV444P
            }
        guard let functions = Self.functions,
            let context = functions.sws_getContext(
                Int32(source.width),
                Int32(source.height),
                format,
                Int32(output.width),
                Int32(output.height),
                format,
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

    package func scale(_ picture: PlanarPicture, into planes: ccolour_planes) {
        let source: [UnsafePointer<UInt8>?] = [
            UnsafePointer(picture.y), UnsafePointer(picture.u), UnsafePointer(picture.v),
        ]
        let sourceStrides = [picture.lumaStride, picture.chromaStride, picture.chromaStride].map { Int32($0) }
        let output: [UnsafeMutablePointer<UInt8>?] = [planes.y, planes.u, planes.v]
        let outputStrides = [planes.y_stride, planes.chroma_stride, planes.chroma_stride].map { Int32($0) }
        // It fails only for invalid slices.
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
