package import CColour
import CYUV
package import Media

/// libyuv's scaler, for machines without libswscale: means where it makes much smaller, else bilinear.
package final class BoxScaler: PlaneScaler {
    private let output: PictureSize

    /// - Parameter source: Ignored: the pictures say it.
    package init(source: PictureSize, output: PictureSize) {
        self.output = output
    }

    package func scale(_ picture: I420Picture, into planes: ccolour_planes) {
        // It refuses only null pointers and empty sizes.
        _ = I420Scale(
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
