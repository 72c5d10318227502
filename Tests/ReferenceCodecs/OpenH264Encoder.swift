import COpenH264

/// Encodes the 4:2:0 pictures of `input` to Annex B.
func encodeByOpenH264(width: Int, height: Int, keyframeInterval: Int, input: [UInt8]) -> [UInt8] {
    var created: UnsafeMutablePointer<ISVCEncoder?>?
    guard WelsCreateSVCEncoder(&created) == 0, let encoder = created, let methods = encoder.pointee?.pointee else {
        fail("openh264 gives no encoder")
    }
    var parameters = SEncParamExt()
    _ = methods.GetDefaultParams(encoder, &parameters)
    parameters.iUsageType = SCREEN_CONTENT_REAL_TIME
    parameters.iPicWidth = Int32(width)
    parameters.iPicHeight = Int32(height)
    parameters.fMaxFrameRate = 30
    parameters.iRCMode = RC_OFF_MODE
    parameters.iTargetBitrate = 1_000_000
    parameters.bEnableFrameSkip = false
    parameters.iNumRefFrame = 1
    parameters.iMultipleThreadIdc = 1
    // Neither is supported with screen content.
    parameters.bEnableAdaptiveQuant = false
    parameters.bEnableBackgroundDetection = false
    parameters.sSpatialLayers.0.iVideoWidth = Int32(width)
    parameters.sSpatialLayers.0.iVideoHeight = Int32(height)
    parameters.sSpatialLayers.0.fFrameRate = 30
    parameters.sSpatialLayers.0.iSpatialBitrate = 1_000_000
    guard methods.InitializeExt(encoder, &parameters) == 0 else { fail("openh264 cannot be set up") }

    var output: [UInt8] = []
    let byteCount = width * height * 3 / 2
    for number in 0..<(input.count / byteCount) {
        var picture = [UInt8](input[(number * byteCount)..<((number + 1) * byteCount)])
        if number % keyframeInterval == 0 { _ = methods.ForceIntraFrame(encoder, true) }
        picture.withUnsafeMutableBufferPointer { bytes in
            var source = SSourcePicture()
            source.iColorFormat = Int32(videoFormatI420.rawValue)
            source.iPicWidth = Int32(width)
            source.iPicHeight = Int32(height)
            source.iStride = (Int32(width), Int32(width / 2), Int32(width / 2), 0)
            let luma = bytes.baseAddress!
            source.pData = (luma, luma + width * height, luma + width * height * 5 / 4, nil)
            source.uiTimeStamp = Int64(number) * 1000 / 30
            var info = SFrameBSInfo()
            guard methods.EncodeFrame(encoder, &source, &info) == 0 else { fail("openh264 does not encode") }
            append(info, to: &output)
        }
    }
    _ = methods.Uninitialize(encoder)
    WelsDestroySVCEncoder(encoder)
    return output
}

private func append(_ info: SFrameBSInfo, to output: inout [UInt8]) {
    withUnsafePointer(to: info.sLayerInfo) { layers in
        layers.withMemoryRebound(to: SLayerBSInfo.self, capacity: Int(info.iLayerNum)) { layers in
            for layer in UnsafeBufferPointer(start: layers, count: Int(info.iLayerNum)) {
                let lengths = UnsafeBufferPointer(start: layer.pNalLengthInByte, count: Int(layer.iNalCount))
                let byteCount = lengths.reduce(0) { $0 + Int($1) }
                output += UnsafeBufferPointer(start: layer.pBsBuf, count: byteCount)
            }
        }
    }
}
