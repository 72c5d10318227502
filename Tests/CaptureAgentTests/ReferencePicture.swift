import CaptureAgent
import Foundation
import Media
import TestSupport

/// A picture in red, green and blue with double precision, as the reference for conversion and scalers.
struct ReferencePicture {
    let size: PictureSize
    /// Red, green, blue of each pixel, row by row, 0 to 1.
    let pixels: [SIMD3<Double>]

    init(size: PictureSize, _ colour: (_ x: Int, _ y: Int) -> SIMD3<Double>) {
        self.size = size
        pixels = (0..<size.height).flatMap { y in (0..<size.width).map { x in colour(x, y) } }
    }

    // MARK: Contents

    /// Ramps of the three colours and of grey.
    static func gradients(_ size: PictureSize) -> ReferencePicture {
        ReferencePicture(size: size) { x, y in
            let ramp = quantised(Double(x) / Double(size.width - 1))
            return switch y * 4 / size.height {
            case 0: SIMD3(ramp, 0, 1 - ramp)
            case 1: SIMD3(1 - ramp, ramp, 0)
            case 2: SIMD3(0.2, ramp, 1 - ramp)
            default: SIMD3(repeating: ramp)
            }
        }
    }

    /// Pseudo-text, fine lines and colour bars: edges of one pixel.
    static func text(_ size: PictureSize) -> ReferencePicture {
        let bytes = Pictures.pattern(value: 12345, size: size)
        return ReferencePicture(size: size) { x, y in
            let first = (y * size.width + x) * 4
            return SIMD3(Double(bytes[first + 2]), Double(bytes[first + 1]), Double(bytes[first])) / 255
        }
    }

    /// Noise of eight octaves with hard edges, which has the spectrum of a photograph.
    static func photograph(_ size: PictureSize) -> ReferencePicture {
        ReferencePicture(size: size) { x, y in
            var colour = SIMD3<Double>.zero
            var (amplitude, frequency) = (0.5, 4 / Double(size.height))
            for octave in 0..<8 {
                for channel in 0..<3 {
                    // Coarse octaves differ between the channels, because fine detail of photographs is mostly grey.
                    let seed = octave * 3 + (octave < 2 ? channel : 0)
                    colour[channel] += amplitude * noise(Double(x) * frequency, Double(y) * frequency, seed)
                }
                (amplitude, frequency) = (amplitude * 0.55, frequency * 2)
            }
            if x + 2 * y > size.width { colour = colour * 0.6 + SIMD3(0.35, 0, 0.35) }
            return SIMD3((0..<3).map { quantised(min(1, max(0, colour[$0]))) })
        }
    }

    private static func quantised(_ value: Double) -> Double { (value * 255).rounded() / 255 }

    private static func noise(_ x: Double, _ y: Double, _ seed: Int) -> Double {
        let (column, row) = (Int(x), Int(y))
        func smooth(_ part: Double) -> Double { part * part * (3 - 2 * part) }
        let (right, down) = (smooth(x - Double(column)), smooth(y - Double(row)))
        func value(_ column: Int, _ row: Int) -> Double {
            var hash = UInt32(truncatingIfNeeded: column &* 374_761_393 &+ row &* 668_265_263 &+ seed &* 2_147_483_647)
            hash = (hash ^ (hash >> 13)) &* 1_274_126_177
            return Double((hash ^ (hash >> 16)) & 0xFFFF) / 65535
        }
        let above = value(column, row) * (1 - right) + value(column + 1, row) * right
        let below = value(column, row + 1) * (1 - right) + value(column + 1, row + 1) * right
        return above * (1 - down) + below * down
    }

    /// Returns the pixels as a desktop delivers them.
    var frame: FramePixels {
        FramePixels(description: FrameDescription(size: size, stride: size.width * 4, format: .bgrx)) { memory in
            for (index, pixel) in pixels.enumerated() {
                for channel in 0..<3 { memory[index * 4 + channel] = UInt8((pixel[2 - channel] * 255).rounded()) }
                memory[index * 4 + 3] = 0
            }
        }
    }

    /// Converts to ITU-R BT.709-6, 8 bits, limited range, unrounded; chroma is the mean of four pixels.
    var planes: ReferencePlanes {
        func luma(_ pixel: SIMD3<Double>) -> Double { 0.2126 * pixel.x + 0.7152 * pixel.y + 0.0722 * pixel.z }
        let chromaSize = PictureSize(width: size.width / 2, height: size.height / 2)
        let means = (0..<chromaSize.height).flatMap { row in
            (0..<chromaSize.width).map { column in
                let first = row * 2 * size.width + column * 2
                let below = first + size.width
                return (pixels[first] + pixels[first + 1] + pixels[below] + pixels[below + 1]) / 4
            }
        }
        return ReferencePlanes(
            y: ReferencePlane(size: size, samples: pixels.map { 16 + 219 * luma($0) }),
            u: ReferencePlane(size: chromaSize, samples: means.map { 128 + 224 * ($0.z - luma($0)) / 1.8556 }),
            v: ReferencePlane(size: chromaSize, samples: means.map { 128 + 224 * ($0.x - luma($0)) / 1.5748 })
        )
    }
}

/// The planes of a 4:2:0 picture.
struct ReferencePlanes {
    var y: ReferencePlane
    var u: ReferencePlane
    var v: ReferencePlane

    /// Scales each plane separately, so that chroma stays in the middle of four pixels.
    func scaled(to output: PictureSize) -> ReferencePlanes {
        let chroma = PictureSize(width: output.width / 2, height: output.height / 2)
        return ReferencePlanes(y: y.scaled(to: output), u: u.scaled(to: chroma), v: v.scaled(to: chroma))
    }
}

/// Samples with double precision, row by row.
struct ReferencePlane {
    var size: PictureSize
    var samples: [Double]

    /// Scales with Keys' bicubic kernel (a = -0.6, as libswscale), widened for reductions, with repeated edges.
    func scaled(to output: PictureSize) -> ReferencePlane {
        let rows = (0..<size.height).flatMap { y in
            Self.resample(output.width, from: size.width) { samples[y * size.width + $0] }
        }
        let columns = (0..<output.width).map { x in
            Self.resample(output.height, from: size.height) { rows[$0 * output.width + x] }
        }
        let scaled = (0..<output.height).flatMap { y in (0..<output.width).map { x in columns[x][y] } }
        return ReferencePlane(size: output, samples: scaled)
    }

    private static func resample(
        _ count: Int,
        from sourceCount: Int,
        _ sample: (Int) -> Double
    ) -> [Double] {
        let ratio = Double(sourceCount) / Double(count)
        let width = max(1, ratio)
        return (0..<count).map { index in
            let centre = (Double(index) + 0.5) * ratio - 0.5
            var (sum, weights) = (0.0, 0.0)
            for place in Int((centre - 2 * width).rounded(.up))...Int((centre + 2 * width).rounded(.down)) {
                let weight = cubic((Double(place) - centre) / width)
                sum += weight * sample(min(sourceCount - 1, max(0, place)))
                weights += weight
            }
            return sum / weights
        }
    }

    private static func cubic(_ distance: Double) -> Double {
        let (x, a) = (abs(distance), -0.6)
        if x < 1 { return ((a + 2) * x - (a + 3)) * x * x + 1 }
        return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0
    }

    /// Returns the peak signal-to-noise ratio of 8-bit samples relative to these, in dB.
    func psnr(of decoded: [UInt8]) -> Double {
        precondition(decoded.count == samples.count)
        let sum = zip(decoded, samples).reduce(0.0) { sum, pair in
            let difference = Double(pair.0) - min(255, max(0, pair.1))
            return sum + difference * difference
        }
        return 10 * log10(255 * 255 * Double(decoded.count) / sum)
    }
}
