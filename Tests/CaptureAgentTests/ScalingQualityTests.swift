import CaptureAgent
import Foundation
import Media
import Testing

/// Tests of conversion and scaling against the formulas, in double precision.
@Suite("Scaling and colour")
struct ScalingQualityTests {
    enum Content: String, CaseIterable, Sendable {
        case gradients, text, photograph

        func picture(_ size: PictureSize) -> ReferencePicture {
            switch self {
            case .gradients: .gradients(size)
            case .text: .text(size)
            case .photograph: .photograph(size)
            }
        }
    }

    private struct Planes {
        var y: [UInt8]
        var u: [UInt8]
        var v: [UInt8]

        /// Returns the part of `picture` that holds the fit's content.
        init(_ picture: PlanarPicture, _ fit: PictureFit) {
            func plane(_ first: UnsafeMutablePointer<UInt8>, stride: Int, per: Int) -> [UInt8] {
                (fit.y / per..<(fit.y + fit.content.height) / per).flatMap { row in
                    (fit.x / per..<(fit.x + fit.content.width) / per).map { first[row * stride + $0] }
                }
            }
            y = plane(picture.y, stride: picture.lumaStride, per: 1)
            u = plane(picture.u, stride: picture.chromaStride, per: 2)
            v = plane(picture.v, stride: picture.chromaStride, per: 2)
        }
    }

    private static func convert(
        _ picture: ReferencePicture,
        to output: PictureSize,
        planeScaler: (PictureSize, PictureSize, ChromaSampling) -> any PlaneScaler = PictureScaler.bestPlaneScaler
    ) -> (picture: PlanarPicture, fit: PictureFit) {
        let scaler = PictureScaler(source: picture.size, output: output, planeScaler: planeScaler)
        let converted = PlanarPicture(size: output)
        scaler.convert(picture.frame, into: converted)
        return (converted, scaler.fit)
    }

    private static func psnr(_ planes: Planes, _ expected: ReferencePlanes) -> (luma: Double, chroma: Double) {
        (expected.y.psnr(of: planes.y), min(expected.u.psnr(of: planes.u), expected.v.psnr(of: planes.v)))
    }

    @Test("at equal size every sample is the standard's value, rounded", arguments: Content.allCases)
    func equalSize(content: Content) {
        let picture = content.picture(PictureSize(width: 640, height: 360))
        let (converted, fit) = Self.convert(picture, to: picture.size)
        let quality = Self.psnr(Planes(converted, fit), picture.planes)
        // Rounding alone gives 58.9 dB.
        #expect(quality.luma > 58 && quality.chroma > 58, "\(quality)")
    }

    static let ratios: [(PictureSize, PictureSize)] = [
        (PictureSize(width: 960, height: 540), PictureSize(width: 640, height: 360)),
        (PictureSize(width: 1280, height: 720), PictureSize(width: 640, height: 360)),
        (PictureSize(width: 640, height: 360), PictureSize(width: 960, height: 540)),
        (PictureSize(width: 682, height: 384), PictureSize(width: 640, height: 360)),
        (PictureSize(width: 1280, height: 720), PictureSize(width: 426, height: 240)),
    ]

    @Test("scaled pictures are the kernel's", arguments: ratios, Content.allCases)
    func scaled(sizes: (source: PictureSize, output: PictureSize), content: Content) {
        let picture = content.picture(sizes.source)
        let (converted, fit) = Self.convert(picture, to: sizes.output)
        let quality = Self.psnr(Planes(converted, fit), picture.planes.scaled(to: fit.content))
        #expect(quality.luma > 50, "\(quality)")
        #expect(quality.chroma > 50, "\(quality)")
    }

    /// Returns where the colour changes along a row of chroma, in luma samples.
    private static func edge(_ plane: ArraySlice<UInt8>, from left: Double, to right: Double) -> Double {
        plane.reduce(0) { $0 + (Double($1) - right) / (left - right) * 2 }
    }

    @Test("an edge between red and blue stays where it is, in luma and in chroma", arguments: 0..<4, ratios)
    func chromaShift(offset: Int, sizes: (source: PictureSize, output: PictureSize)) {
        let place = sizes.source.width / 2 + offset
        let picture = ReferencePicture(size: sizes.source) { x, _ in x < place ? SIMD3(1, 0, 0) : SIMD3(0, 0, 1) }
        for output in [sizes.source, sizes.output] {
            let (converted, fit) = Self.convert(picture, to: output)
            let planes = Planes(converted, fit)
            let expected = Double(place) * Double(fit.content.width) / Double(sizes.source.width)
            let width = fit.content.width / 2
            let row = (fit.content.height / 4) * width
            for plane in [planes.u, planes.v] {
                let samples = plane[row..<(row + width)]
                let found = Self.edge(samples, from: Double(samples.first!), to: Double(samples.last!))
                #expect(abs(found - expected) < 0.1, "\(found) where \(expected) is expected, \(output)")
            }
        }
    }

    @Test(
        "nothing bleeds over the content's edges, whatever the sizes",
        arguments: [(true, 0), (true, 1), (true, 2), (true, 3), (false, 0), (false, 1)]
    )
    func borders(bestScaler: Bool, seed: Int) {
        let sources = [
            PictureSize(width: 400, height: 700), PictureSize(width: 1021, height: 333),
            PictureSize(width: 64, height: 64),
            PictureSize(width: 3, height: 2), PictureSize(width: 2, height: 77), PictureSize(width: 17, height: 16),
            PictureSize(width: 853, height: 481),
        ]
        let outputs = [
            PictureSize(width: 640, height: 360), PictureSize(width: 322, height: 250),
            PictureSize(width: 16, height: 16),
            PictureSize(width: 18, height: 360),
        ]
        for source in sources {
            let output = outputs[seed]
            // White, because its overshoot would be most visible on black.
            let white = ReferencePicture(size: source) { _, _ in SIMD3(repeating: 1) }
            let (picture, fit) = Self.convert(
                white,
                to: output,
                planeScaler: bestScaler
                    ? PictureScaler.bestPlaneScaler : { BoxScaler(source: $0, output: $1, chroma: $2) }
            )
            var wrong = 0
            for y in 0..<output.height {
                for x in 0..<output.width {
                    let isContent =
                        (fit.x..<(fit.x + fit.content.width)).contains(x)
                        && (fit.y..<(fit.y + fit.content.height)).contains(y)
                    let luma = Int(picture.y[y * picture.lumaStride + x])
                    let chroma = y / 2 * picture.chromaStride + x / 2
                    let isGrey = [picture.u[chroma], picture.v[chroma]].allSatisfy {
                        abs(Int($0) - 128) <= (isContent ? 1 : 0)
                    }
                    if !isGrey || abs(luma - (isContent ? 235 : 16)) > (isContent ? 1 : 0) { wrong += 1 }
                }
            }
            #expect(wrong == 0, "\(source) in \(output)")
        }
    }
}
