import CaptureAgent
import Media

extension FuzzTarget {
    /// Images as screenshot programs write them.
    static let snapshots = FuzzTarget("snapshots", words: ["P6\n", " 255\n", "\u{FF}", "IHDR", "IDAT", "IEND", "#"]) {
        input in
        try input.withUnsafeBytes { bytes in
            guard let picture = try refusable({ try Images.read(bytes) }) else { return }
            let size = picture.size
            try require(2...8192 ~= size.width && 2...8192 ~= size.height, "a picture of \(size)")
            // A few bytes may announce an image that takes long to draw. Its size is bounded, so nothing worse can
            // happen.
            guard size.width * size.height <= 1 << 16 else { return }
            let stride = size.width * 4
            let pixels = UnsafeMutableRawBufferPointer.allocate(byteCount: stride * size.height, alignment: 16)
            defer { pixels.deallocate() }
            guard let first = pixels.baseAddress else { return }
            _ = try refusable { try picture.draw(into: first, stride: stride) }
        }
    }
}
