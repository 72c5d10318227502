import CPNG
import CYUV

/// The encoding of pixels as PNG files, by libpng's simplified interface and with its fast settings.
package enum PNGFile {
    /// Returns the file of pixels that have 4 bytes each: red, green, blue, or the reverse, and one that is ignored.
    ///
    /// - Parameters:
    ///   - first: The first row's first byte.
    ///   - stride: The bytes from one row to the next.
    ///   - blueFirst: Whether blue comes first.
    /// - Returns: `nil` if libpng fails.
    package static func bytes(
        of first: UnsafePointer<UInt8>,
        stride: Int,
        width: Int,
        height: Int,
        blueFirst: Bool
    ) -> [UInt8]? {
        // libpng accepts four bytes per pixel only with an alpha channel.
        let rowBytes = width * 3
        let pixels = [UInt8](unsafeUninitializedCapacity: rowBytes * height) { memory, count in
            // Drops each fourth byte.
            _ = ARGBToRGB24(first, Int32(stride), memory.baseAddress, Int32(rowBytes), Int32(width), Int32(height))
            count = rowBytes * height
        }
        var image = png_image()
        image.version = UInt32(PNG_IMAGE_VERSION)
        image.width = UInt32(width)
        image.height = UInt32(height)
        image.format = UInt32(PNG_FORMAT_FLAG_COLOR | (blueFirst ? PNG_FORMAT_FLAG_BGR : 0))
        image.flags = UInt32(PNG_IMAGE_FLAG_FAST)
        defer { png_image_free(&image) }
        // More than random noise needs (png.h, PNG_IMAGE_PNG_SIZE_MAX).
        let capacity = pixels.count + pixels.count / 4 + height + 4096
        let file = [UInt8](unsafeUninitializedCapacity: capacity) { memory, count in
            var written = memory.count
            let result = png_image_write_to_memory(
                &image,
                memory.baseAddress,
                &written,
                0,
                pixels,
                Int32(rowBytes),
                nil
            )
            count = result == 0 ? 0 : written
        }
        return file.isEmpty ? nil : file
    }
}
