import CCounterPattern
import Glibc
package import Media

/// Reads what decoded pictures show.
package enum Pictures {
    /// The counter value that a luma plane without row padding shows, nil when it shows none.
    ///
    /// - Parameter content: Where the picture lies in the plane; nil for all of it.
    package static func counter(luma: [UInt8], size: PictureSize, content: PictureFit? = nil) -> Int? {
        let value = luma.withUnsafeBufferPointer { plane in
            counter_pattern_read(
                plane.baseAddress,
                UInt32(size.width),
                UInt32(content?.x ?? 0),
                UInt32(content?.y ?? 0),
                UInt32(content?.content.width ?? size.width),
                UInt32(content?.content.height ?? size.height)
            )
        }
        return value < 0 ? nil : Int(value)
    }

    /// Peak signal-to-noise ratio of two planes in dB, infinite when they are equal.
    package static func psnr(_ one: [UInt8], _ other: [UInt8]) -> Double {
        precondition(one.count == other.count && !one.isEmpty)
        var sum = 0
        for (a, b) in zip(one, other) {
            let difference = Int(a) - Int(b)
            sum += difference * difference
        }
        guard sum > 0 else { return .infinity }
        return 10 * log10(255 * 255 * Double(one.count) / Double(sum))
    }
}
