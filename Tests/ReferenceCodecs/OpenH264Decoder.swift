import COpenH264

/// Prints the hash of every picture that openh264 decodes.
func decodeByOpenH264(_ accessUnits: [[UInt8]]) {
    var created: UnsafeMutablePointer<ISVCDecoder?>?
    guard WelsCreateDecoder(&created) == 0, let decoder = created, let methods = decoder.pointee?.pointee else {
        fail("openh264 gives no decoder")
    }
    var level = Int32(WELS_LOG_WARNING)
    _ = methods.SetOption(decoder, DECODER_OPTION_TRACE_LEVEL, &level)
    var complain: WelsTraceCallback? = { _, _, message in
        fail(message.map { String(cString: $0) } ?? "openh264 complains")
    }
    _ = methods.SetOption(decoder, DECODER_OPTION_TRACE_CALLBACK, &complain)

    var parameters = SDecodingParam()
    parameters.eEcActiveIdc = ERROR_CON_DISABLE
    parameters.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC
    guard methods.Initialize(decoder, &parameters) == 0 else { fail("openh264 cannot be set up") }

    var planes: [UnsafeMutablePointer<UInt8>?] = [nil, nil, nil]
    for (number, unit) in accessUnits.enumerated() {
        var info = SBufferInfo()
        let state = methods.DecodeFrameNoDelay(decoder, unit, Int32(unit.count), &planes, &info)
        guard state == dsErrorFree else { fail("openh264 has state \(state.rawValue) after access unit \(number)") }
        if info.iBufferStatus == 1 { printHash(planes, info.UsrData.sSystemBuffer) }
    }
    // Above the baseline profile the decoder holds pictures back for reordering.
    var remaining: Int32 = 0
    _ = methods.GetOption(decoder, DECODER_OPTION_NUM_OF_FRAMES_REMAINING_IN_BUFFER, &remaining)
    for _ in 0..<remaining {
        var info = SBufferInfo()
        guard methods.FlushFrame(decoder, &planes, &info) == dsErrorFree, info.iBufferStatus == 1 else {
            fail("openh264 does not hand out its last pictures")
        }
        printHash(planes, info.UsrData.sSystemBuffer)
    }
    _ = methods.Uninitialize(decoder)
    WelsDestroyDecoder(decoder)
}

private func printHash(_ planes: [UnsafeMutablePointer<UInt8>?], _ buffer: SSysMEMBuffer) {
    var hash = PictureHash()
    for (index, plane) in planes.enumerated() {
        guard let plane else { fail("openh264 gives no plane \(index)") }
        let shift = index == 0 ? 0 : 1
        hash.add(
            plane,
            rowBytes: Int(buffer.iWidth) >> shift,
            rows: Int(buffer.iHeight) >> shift,
            stride: Int(index == 0 ? buffer.iStride.0 : buffer.iStride.1)
        )
    }
    hash.printLine()
}
