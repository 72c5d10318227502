import CX265
package import Media

/// An H.265 encoder by libx265, set up to return each picture at once.
package final class X265Encoder: VideoEncoder {
    package let name = "x265"
    package let settings: EncoderSettings

    /// The constant quality to aim for, as a rate factor; lower is better.
    private static let quality = 24.0
    /// How far the quantiser must be above the aim to show a loss of about 1 dB.
    private static let cappedBy = 1.0
    /// The last picture's quantiser.
    private var lastQuantiser = Double.infinity

    private let library: UnsafePointer<x265_api>
    private let parameters: UnsafeMutablePointer<x265_param>
    private let handle: OpaquePointer
    private let input: UnsafeMutablePointer<x265_picture>
    private let output: UnsafeMutablePointer<x265_picture>
    private var pictureNumber: Int64 = 0

    package init(_ settings: EncoderSettings) throws(EncoderError) {
        self.settings = settings
        do throws(ResourceShortage) {
            // Its frame encoder needs one thread, and libx265 3.5 waits forever if that thread cannot start.
            try WorkerThread.requireSupply()
        } catch {
            throw .shortage(encoder: "x265", error)
        }
        guard let library = cx265_api(), let parameters = library.pointee.param_alloc() else {
            throw .cannotOpen(encoder: "x265", settings: settings)
        }
        let (input, output) = (library.pointee.picture_alloc(), library.pointee.picture_alloc())
        Self.set(parameters, for: settings, library: library)
        guard let input, let output, let handle = library.pointee.encoder_open(parameters) else {
            library.pointee.picture_free(input)
            library.pointee.picture_free(output)
            library.pointee.param_free(parameters)
            throw .cannotOpen(encoder: "x265", settings: settings)
        }
        self.library = library
        self.parameters = parameters
        self.handle = handle
        self.input = input
        self.output = output
        library.pointee.picture_init(parameters, input)
    }

    deinit {
        library.pointee.encoder_close(handle)
        library.pointee.picture_free(input)
        library.pointee.picture_free(output)
        library.pointee.param_free(parameters)
    }

    package func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        input.pointee.planes = (
            UnsafeMutableRawPointer(picture.y), UnsafeMutableRawPointer(picture.u), UnsafeMutableRawPointer(picture.v)
        )
        input.pointee.stride = (Int32(picture.lumaStride), Int32(picture.chromaStride), Int32(picture.chromaStride))
        input.pointee.sliceType = forceKeyframe ? X265_TYPE_IDR : X265_TYPE_AUTO
        input.pointee.pts = pictureNumber
        pictureNumber += 1

        var units: UnsafeMutablePointer<x265_nal>?
        var unitCount: UInt32 = 0
        let pictureCount = library.pointee.encoder_encode(handle, &units, &unitCount, input, output)
        guard pictureCount >= 0 else { throw .failed(encoder: name) }
        guard pictureCount == 1, let units, output.pointee.pts == input.pointee.pts else {
            throw .delayed(encoder: name)
        }
        var bytes: [UInt8] = []
        for unit in UnsafeBufferPointer(start: units, count: Int(unitCount)) {
            bytes.append(contentsOf: UnsafeBufferPointer(start: unit.payload, count: Int(unit.sizeBytes)))
        }
        return EncodedPicture(
            bytes: bytes,
            isKeyframe: output.pointee.sliceType == X265_TYPE_IDR,
            isCapped: isCapped(output.pointee)
        )
    }

    /// Returns whether the rate control still holds the quality down.
    ///
    /// x265 does not refine a settled picture. But after motion, its rate control recovers from repeat to repeat, and
    /// with it the quantiser of the next keyframe.
    private func isCapped(_ picture: x265_picture) -> Bool {
        let quantiser = picture.frameData.qp
        defer { lastQuantiser = quantiser }
        if picture.sliceType == X265_TYPE_IDR { return quantiser > picture.frameData.rateFactor + Self.cappedBy }
        return quantiser > Self.quality || quantiser < lastQuantiser - 0.25
    }

    /// Always `false`: if the new rate belongs to another level, x265 3.5 reports success but keeps the old rate.
    package func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool { false }

    /// The settings for live viewing; docs/design/reports/encoders-and-scaling.md explains them.
    private static func set(
        _ parameters: UnsafeMutablePointer<x265_param>,
        for settings: EncoderSettings,
        library: UnsafePointer<x265_api>
    ) {
        _ = library.pointee.param_default_preset(parameters, "ultrafast", "zerolatency")
        // The library copies the string.
        _ = library.pointee.param_parse(parameters, "pools", "none")
        parameters.pointee.logLevel = X265_LOG_NONE
        // 4:4:4 makes the stream one of the profile Main 4:4:4.
        parameters.pointee.internalCsp =
            switch settings.chroma {
            case .quarter: X265_CSP_I420
            case .full: X265_CSP_I444
            }
        parameters.pointee.sourceWidth = Int32(settings.size.width)
        parameters.pointee.sourceHeight = Int32(settings.size.height)
        parameters.pointee.fpsNum = UInt32(settings.fps)
        parameters.pointee.fpsDenom = 1
        // The preset's value of 16 blurs small text.
        parameters.pointee.minCUSize = 8
        // A picture must be at least one coding tree unit large, which the preset makes 32 samples wide.
        if min(settings.size.width, settings.size.height) < 32 { parameters.pointee.maxCUSize = 16 }
        // Sessions run in parallel, so threads inside an encoder would only add cost.
        parameters.pointee.frameNumThreads = 1
        parameters.pointee.bEnableWavefront = 0

        // KeyframePolicy decides on keyframes by time.
        parameters.pointee.keyframeMax = -1
        parameters.pointee.scenecutThreshold = 0
        parameters.pointee.bOpenGOP = 0
        parameters.pointee.bframes = 0
        parameters.pointee.maxNumReferences = 1
        // Motion vectors are never predicted from another picture's, so pictures can be inserted into the stream.
        parameters.pointee.bEnableTemporalMvp = 0
        parameters.pointee.bAnnexB = 1
        parameters.pointee.bRepeatHeaders = 1
        parameters.pointee.bEnableAccessUnitDelimiters = 0
        parameters.pointee.bEmitInfoSEI = 0
        parameters.pointee.bEmitHRDSEI = 0

        // Constant quality, capped so that a burst never queues more than the buffer on a link with that rate.
        let cap = RateCap(opening: settings)
        parameters.pointee.rc.rateControlMode = Int32(X265_RC_CRF.rawValue)
        parameters.pointee.rc.rfConstant = quality
        parameters.pointee.rc.vbvMaxBitrate = Int32(clamping: cap.maximum)
        parameters.pointee.rc.vbvBufferSize = Int32(clamping: cap.buffer)

        // ITU-T H.265 tables E.3 to E.5: BT.709 is 1 in each; 5 is an unspecified video format.
        parameters.pointee.vui.bEnableVideoSignalTypePresentFlag = 1
        parameters.pointee.vui.videoFormat = 5
        parameters.pointee.vui.bEnableVideoFullRangeFlag = 0
        parameters.pointee.vui.bEnableColorDescriptionPresentFlag = 1
        parameters.pointee.vui.colorPrimaries = 1
        parameters.pointee.vui.transferCharacteristics = 1
        parameters.pointee.vui.matrixCoeffs = 1
        guard settings.chroma == .quarter else { return }
        // ITU-T H.265 figure E.1: chroma lies in the middle of its four luma samples.
        parameters.pointee.vui.bEnableChromaLocInfoPresentFlag = 1
        parameters.pointee.vui.chromaSampleLocTypeTopField = 1
        parameters.pointee.vui.chromaSampleLocTypeBottomField = 1
    }
}
