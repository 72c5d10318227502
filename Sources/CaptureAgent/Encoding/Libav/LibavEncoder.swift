import CLibAV
package import Media

/// An H.264 or H.265 encoder of libavcodec, set up to return each picture at once.
package final class LibavEncoder: VideoEncoder {
    package let name: String
    package let settings: EncoderSettings

    let library: LibavLibrary
    private let input: LibavInput
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var parameterSets: InBandParameterSets
    private var pictureNumber: Int64 = 0

    /// The VA-API device that it works on, and the device's file; `nil` for other forms of input.
    var device: (UnsafeMutablePointer<AVBufferRef>, file: String)? { input.device }

    /// - Parameters:
    ///   - name: libavcodec's name of the encoder.
    ///   - devices: The device files to try with VA-API.
    package convenience init(
        name: String,
        settings: EncoderSettings,
        devices: [String] = []
    ) throws(EncoderError) {
        let library: LibavLibrary
        do {
            library = try LibavLibrary.load()
        } catch {
            throw .unavailable(encoder: name, reason: error.reason)
        }
        guard let (codec, produced) = library.codec(named: name), produced == settings.codec else {
            throw .unavailable(
                encoder: name,
                reason: "libavcodec has no \(settings.codec.rawValue) encoder of that name"
            )
        }
        let forms = Self.forms(of: codec, devices: devices)
        guard !forms.isEmpty else {
            throw .unavailable(encoder: name, reason: "it accepts none of this agent's 8-bit 4:2:0 pixel formats")
        }
        do throws(ResourceShortage) {
            // libavcodec's libx265 waits forever for a thread that cannot start.
            try WorkerThread.requireSupply()
        } catch {
            throw .shortage(encoder: name, error)
        }
        var reasons: [String] = []
        for form in forms {
            do throws(LibavInput.Failure) {
                let input = try LibavInput(form: form, size: settings.size, library: library)
                let context = try Self.open(codec, form: form, input: input, settings: settings, library: library)
                self.init(name: name, settings: settings, library: library, input: input, context: context)
                return
            } catch {
                reasons.append(error.reason)
            }
        }
        throw .cannotOpen(encoder: name, settings: settings, reason: reasons.joined(separator: "; "))
    }

    private init(
        name: String,
        settings: EncoderSettings,
        library: LibavLibrary,
        input: LibavInput,
        context: UnsafeMutablePointer<AVCodecContext>
    ) {
        self.name = name
        self.settings = settings
        self.library = library
        self.input = input
        self.context = context
        packet = library.functions.av_packet_alloc()
        let header = UnsafeBufferPointer(
            start: context.pointee.extradata,
            count: Int(context.pointee.extradata_size)
        )
        parameterSets = InBandParameterSets(codec: settings.codec, header: Array(header))
    }

    deinit {
        library.functions.av_packet_free(&packet)
        library.functions.avcodec_free_context(&context)
    }

    package func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        let frame: UnsafeMutablePointer<AVFrame>
        do {
            frame = try input.frame(for: picture)
        } catch {
            throw .failed(encoder: name, reason: error.reason)
        }
        return try encode(frame, forceKeyframe: forceKeyframe)
    }

    /// Encodes a frame of the input's form and size. The caller keeps the frame.
    func encode(
        _ frame: UnsafeMutablePointer<AVFrame>,
        forceKeyframe: Bool
    ) throws(EncoderError) -> EncodedPicture {
        frame.pointee.pts = pictureNumber
        frame.pointee.pict_type = forceKeyframe || pictureNumber == 0 ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
        defer { pictureNumber += 1 }
        let status = library.functions.avcodec_send_frame(context, frame)
        guard status >= 0 else { throw .failed(encoder: name, reason: library.message(for: status)) }
        while true {
            switch parameterSets.take(try receive()) {
            case .picture(let bytes, let isKeyframe): return EncodedPicture(bytes: bytes, isKeyframe: isKeyframe)
            case .header: continue
            case .notAnnexB: throw .failed(encoder: name, reason: "its output is not in Annex B form")
            }
        }
    }

    package func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool {
        guard LibavOptions.changesCap(name), let context else { return false }
        let cap = RateCap(bitrate: bitrate, burst: burst, fps: fps, openedFps: settings.fps)
        Self.set(cap, in: context)
        return true
    }

    /// Returns the next piece of output, which belongs to the picture that was sent last.
    private func receive() throws(EncoderError) -> [UInt8] {
        let status = library.functions.avcodec_receive_packet(context, packet)
        guard status != clibav_error_again else { throw .delayed(encoder: name) }
        guard status >= 0, let packet else { throw .failed(encoder: name, reason: library.message(for: status)) }
        defer { library.functions.av_packet_unref(packet) }
        let pts = packet.pointee.pts
        guard pts == pictureNumber || pts == clibav_no_pts else { throw .delayed(encoder: name) }
        return Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size)))
    }

    // MARK: - Opening

    /// The forms of input to try, in order.
    private static func forms(of codec: UnsafePointer<AVCodec>, devices: [String]) -> [LibavInput.Form] {
        let inMemory: [LibavInput.Form] = [.planar, .semiplanar]
        guard clibav_lists_formats(codec) else { return inMemory.reversed() }
        let taken = inMemory.filter { clibav_takes_format(codec, $0.pixelFormat) }
        if !taken.isEmpty { return Array(taken.prefix(1)) }
        return clibav_takes_format(codec, AV_PIX_FMT_VAAPI) ? devices.map { .surface(device: $0) } : []
    }

    private static func open(
        _ codec: UnsafePointer<AVCodec>,
        form: LibavInput.Form,
        input: LibavInput,
        settings: EncoderSettings,
        library: LibavLibrary
    ) throws(LibavInput.Failure) -> UnsafeMutablePointer<AVCodecContext> {
        var context = library.functions.avcodec_alloc_context3(codec)
        guard let opening = context else { throw LibavInput.Failure(reason: "out of memory") }
        let name = String(cString: codec.pointee.name)
        describe(settings, encoder: name, in: opening)
        opening.pointee.pix_fmt = form.pixelFormat
        if let surfaces = input.surfaces {
            opening.pointee.hw_frames_ctx = library.functions.av_buffer_ref(surfaces)
        }
        // Options that this version of the encoder lacks stay in the dictionary and are ignored: the probe checks the
        // result.
        var options: OpaquePointer?
        for (key, value) in LibavOptions.options(for: name, codec: settings.codec) {
            _ = library.functions.av_dict_set(&options, key, value, 0)
        }
        defer { library.functions.av_dict_free(&options) }
        _ = clibav_take_message()
        let status = library.functions.avcodec_open2(opening, codec, &options)
        guard status >= 0 else {
            let reason = library.message(for: status)
            library.functions.avcodec_free_context(&context)
            throw LibavInput.Failure(reason: reason)
        }
        return opening
    }

    /// Sets what live viewing needs from every encoder; docs/design/reports/encoders-and-scaling.md explains it.
    private static func describe(
        _ settings: EncoderSettings,
        encoder: String,
        in context: UnsafeMutablePointer<AVCodecContext>
    ) {
        context.pointee.width = Int32(settings.size.width)
        context.pointee.height = Int32(settings.size.height)
        context.pointee.time_base = AVRational(num: 1, den: Int32(settings.fps))
        context.pointee.framerate = AVRational(num: Int32(settings.fps), den: 1)
        // KeyframePolicy decides on keyframes. This is the longest interval that the counter of every encoder can hold.
        context.pointee.gop_size = 65_535
        context.pointee.max_b_frames = 0
        context.pointee.refs = 1
        context.pointee.thread_count = 1
        context.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY
        context.pointee.bit_rate = LibavOptions.aimsAtQuality(encoder) ? 0 : Int64(settings.bitrate)
        set(RateCap(opening: settings), in: context)
        context.pointee.color_range = AVCOL_RANGE_MPEG
        context.pointee.color_primaries = AVCOL_PRI_BT709
        context.pointee.color_trc = AVCOL_TRC_BT709
        context.pointee.colorspace = AVCOL_SPC_BT709
        context.pointee.chroma_sample_location = AVCHROMA_LOC_CENTER
    }

    private static func set(_ cap: RateCap, in context: UnsafeMutablePointer<AVCodecContext>) {
        context.pointee.rc_max_rate = Int64(cap.maximum) * 1000
        context.pointee.rc_buffer_size = Int32(clamping: cap.buffer * 1000)
    }
}
