import CX264
package import Media

/// An H.264 encoder by libx264, set up to return each picture at once.
package final class X264Encoder: VideoEncoder {
    package let name = "x264"
    package let settings: EncoderSettings

    /// The constant quality to aim for, as a rate factor; lower is better.
    private static let quality: Float = 23
    /// How far the rate factor must be above the aim to show that the cap has cost quality: about 1 dB.
    private static let cappedBy = 1.0

    private var handle: OpaquePointer
    private var cap: RateCap
    private var input = x264_picture_t()
    private var pictureNumber: Int64 = 0

    package init(_ settings: EncoderSettings) throws(EncoderError) {
        self.settings = settings
        cap = RateCap(opening: settings)
        handle = try Self.open(settings, cap: cap, level: nil)
        x264_picture_init(&input)
        input.img.i_csp = Self.colourSpace(of: settings.chroma)
        input.img.i_plane = 3
    }

    deinit {
        x264_encoder_close(handle)
    }

    /// - Parameter level: The standard's level times ten; `nil` for the lowest level that suits the settings.
    private static func open(
        _ settings: EncoderSettings,
        cap: RateCap,
        level: Int32?
    ) throws(EncoderError) -> OpaquePointer {
        var parameters = Self.parameters(for: settings)
        set(cap, in: &parameters)
        parameters.i_level_idc = level ?? leastLevel(for: settings)
        guard let handle = cx264_encoder_open(&parameters) else {
            throw .cannotOpen(encoder: "x264", settings: settings)
        }
        return handle
    }

    package func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        input.img.plane = (picture.y, picture.u, picture.v, nil)
        input.img.i_stride = (Int32(picture.lumaStride), Int32(picture.chromaStride), Int32(picture.chromaStride), 0)
        input.i_type = forceKeyframe ? X264_TYPE_IDR : X264_TYPE_AUTO
        input.i_pts = pictureNumber
        pictureNumber += 1

        var units: UnsafeMutablePointer<x264_nal_t>?
        var unitCount: Int32 = 0
        var output = x264_picture_t()
        let byteCount = x264_encoder_encode(handle, &units, &unitCount, &input, &output)
        guard byteCount >= 0 else { throw .failed(encoder: name) }
        guard byteCount > 0, let first = units?.pointee.p_payload else { throw .delayed(encoder: name) }
        // The payloads of all units of one call are contiguous.
        let bytes = Array(UnsafeBufferPointer(start: first, count: Int(byteCount)))
        return EncodedPicture(
            bytes: bytes,
            isKeyframe: output.b_keyframe != 0,
            isCapped: output.prop.f_crf_avg > Double(Self.quality) + Self.cappedBy
        )
    }

    /// Uses a new encoder, because x264's verifier is full only at the start, and a lowered cap takes effect at once.
    package func encodeStaticKeyframe(_ picture: PlanarPicture) throws(EncoderError) -> EncodedPicture {
        var parameters = x264_param_t()
        x264_encoder_parameters(handle, &parameters)
        let opened = try Self.open(settings, cap: .none(for: settings), level: parameters.i_level_idc)
        x264_encoder_close(handle)
        handle = opened
        let encoded = try encode(picture, forceKeyframe: true)
        guard follow(cap) else { throw .failed(encoder: name, reason: "it does not take its rate cap back") }
        return encoded
    }

    package func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool {
        cap = RateCap(bitrate: bitrate, burst: burst, fps: fps, openedFps: settings.fps)
        return follow(cap)
    }

    private func follow(_ cap: RateCap) -> Bool {
        var parameters = x264_param_t()
        x264_encoder_parameters(handle, &parameters)
        Self.set(cap, in: &parameters)
        return x264_encoder_reconfig(handle, &parameters) == 0
    }

    /// Returns level 4.1 if it suffices, otherwise leaves the choice to x264.
    ///
    /// Levels 3.1 to 4 limit each picture to a quarter of its uncompressed size (ITU-T H.264 table A-1, MinCR), and
    /// x264 degrades text to stay below that.
    private static func leastLevel(for settings: EncoderSettings) -> Int32 {
        let macroblocks = (settings.size.width + 15) / 16 * ((settings.size.height + 15) / 16)
        let suffices = macroblocks <= 8192 && macroblocks * settings.fps <= 245_760 && settings.bitrate <= 50_000_000
        return suffices ? 41 : -1
    }

    private static func set(_ cap: RateCap, in parameters: inout x264_param_t) {
        parameters.rc.i_vbv_max_bitrate = Int32(clamping: cap.maximum)
        parameters.rc.i_vbv_buffer_size = Int32(clamping: cap.buffer)
    }

    /// The settings for live viewing; docs/design/reports/encoders-and-scaling.md explains them.
    private static func parameters(for settings: EncoderSettings) -> x264_param_t {
        var parameters = x264_param_t()
        x264_param_default_preset(&parameters, "ultrafast", "zerolatency")
        parameters.i_log_level = X264_LOG_NONE
        parameters.i_csp = colourSpace(of: settings.chroma)
        parameters.i_width = Int32(settings.size.width)
        parameters.i_height = Int32(settings.size.height)
        parameters.i_fps_num = UInt32(settings.fps)
        parameters.i_fps_den = 1
        // The frame rate is constant; timestamps travel outside the stream.
        parameters.b_vfr_input = 0
        // Sessions run in parallel, so threads inside an encoder would only add cost.
        parameters.i_threads = 1
        parameters.b_sliced_threads = 0

        // KeyframePolicy decides on keyframes by time.
        parameters.i_keyint_max = X264_KEYINT_MAX_INFINITE
        parameters.i_scenecut_threshold = 0
        parameters.i_frame_reference = 1
        parameters.i_bframe = 0
        parameters.b_annexb = 1
        parameters.b_repeat_headers = 1

        // Constant quality, capped so that a burst never queues more than the buffer on a link with that rate.
        parameters.rc.i_rc_method = X264_RC_CRF
        parameters.rc.f_rf_constant = quality
        parameters.i_nal_hrd = X264_NAL_HRD_NONE

        // ITU-T H.264 tables E-3 to E-5: BT.709 is 1 in each.
        parameters.vui.b_fullrange = 0
        parameters.vui.i_colorprim = 1
        parameters.vui.i_transfer = 1
        parameters.vui.i_colmatrix = 1
        // Figure E-1: chroma lies in the middle of its four luma samples. In 4:4:4 there is nothing to say.
        if settings.chroma == .quarter { parameters.vui.i_chroma_loc = 1 }
        return parameters
    }

    /// 4:4:4 makes x264 choose the profile High 4:4:4 Predictive.
    private static func colourSpace(of chroma: ChromaSampling) -> Int32 {
        switch chroma {
        case .quarter: X264_CSP_I420
        case .full: X264_CSP_I444
        }
    }
}
