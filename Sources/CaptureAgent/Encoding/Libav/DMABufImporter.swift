import CLibAV
package import Media

/// Imports DMA-BUFs of one size and byte order into surfaces of a VA-API device.
///
/// libavfilter maps and scales them and converts them to NV12 in BT.709 limited range, all on the device. The filters
/// and their options follow ffmpeg's documentation for `kmsgrab`.
package final class DMABufImporter {
    struct Format: Equatable {
        /// The part of the buffer that is read, starting at its first pixel; both sides even.
        var source: PictureSize
        var pixels: PixelFormat
        var output: PictureSize
    }

    let format: Format
    /// The last imported picture; `nil` before the first one.
    private(set) var lastSurface: UnsafeMutablePointer<AVFrame>?

    private let library: LibavLibrary
    private let filters: clibav_filter_functions
    private var graph: UnsafeMutablePointer<AVFilterGraph>?
    private var entrance: UnsafeMutablePointer<AVFilterContext>?
    private var exit: UnsafeMutablePointer<AVFilterContext>?
    /// The frames context that libavfilter requires for DMA-BUFs: frames of the DRM device that the VA-API device is
    /// based on.
    private var frames: UnsafeMutablePointer<AVBufferRef>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var surface: UnsafeMutablePointer<AVFrame>?

    init(
        _ format: Format,
        device: (UnsafeMutablePointer<AVBufferRef>, file: String),
        library: LibavLibrary
    ) throws(LibavInput.Failure) {
        do {
            filters = try library.loadFilters()
        } catch {
            throw LibavInput.Failure(reason: error.reason)
        }
        self.format = format
        self.library = library
        frame = library.functions.av_frame_alloc()
        surface = library.functions.av_frame_alloc()
        graph = filters.avfilter_graph_alloc()
        // With one thread, each picture passes through all filters during the call that brings it.
        graph?.pointee.nb_threads = 1
        try makeFrames(of: device.file)
        try makeGraph(on: device.0)
    }

    deinit {
        library.functions.av_frame_free(&frame)
        library.functions.av_frame_free(&surface)
        filters.avfilter_graph_free(&graph)
        library.functions.av_buffer_unref(&frames)
    }

    /// Returns the picture in a surface that an encoder of the device accepts, valid until the next call.
    ///
    /// The device may still be reading the buffer. It has finished when an encoder has put out the picture.
    func surface(from buffer: DMABuf) throws(LibavInput.Failure) -> UnsafeMutablePointer<AVFrame> {
        guard let frame, let surface else { throw LibavInput.Failure(reason: "out of memory") }
        lastSurface = nil
        library.functions.av_frame_unref(surface)
        try describe(buffer, in: frame)
        defer { library.functions.av_frame_unref(frame) }
        try check(filters.av_buffersrc_add_frame_flags(entrance, frame, Int32(AV_BUFFERSRC_FLAG_KEEP_REF)))
        try check(filters.av_buffersink_get_frame(exit, surface))
        lastSurface = surface
        return surface
    }

    // MARK: - Buffers

    private func describe(_ buffer: DMABuf, in frame: UnsafeMutablePointer<AVFrame>) throws(LibavInput.Failure) {
        let holder = library.functions.av_buffer_allocz(MemoryLayout<AVDRMFrameDescriptor>.size)
        guard let holder, let memory = holder.pointee.data else { throw LibavInput.Failure(reason: "out of memory") }
        memory.withMemoryRebound(to: AVDRMFrameDescriptor.self, capacity: 1) { descriptor in
            descriptor.pointee.nb_objects = 1
            descriptor.pointee.objects.0.fd = buffer.descriptor
            descriptor.pointee.objects.0.size = buffer.byteCount
            descriptor.pointee.objects.0.format_modifier = buffer.modifier
            descriptor.pointee.nb_layers = 1
            descriptor.pointee.layers.0.format = Self.fourcc(of: format.pixels)
            descriptor.pointee.layers.0.nb_planes = 1
            descriptor.pointee.layers.0.planes.0.offset = buffer.offset
            descriptor.pointee.layers.0.planes.0.pitch = buffer.description.stride
        }
        frame.pointee.buf.0 = holder
        frame.pointee.data.0 = memory
        frame.pointee.format = AV_PIX_FMT_DRM_PRIME.rawValue
        frame.pointee.width = Int32(format.source.width)
        frame.pointee.height = Int32(format.source.height)
        frame.pointee.hw_frames_ctx = library.functions.av_buffer_ref(frames)
        frame.pointee.color_range = AVCOL_RANGE_JPEG
        frame.pointee.colorspace = AVCOL_SPC_RGB
        frame.pointee.color_primaries = AVCOL_PRI_BT709
        frame.pointee.color_trc = AVCOL_TRC_BT709
    }

    /// `drm_fourcc.h` names a pixel's bytes from the highest one: `XR24` is blue, green, red, unused in memory.
    private static func fourcc(of pixels: PixelFormat) -> UInt32 {
        let name = pixels.blueFirst ? "XR24" : "XB24"
        return name.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func makeFrames(of file: String) throws(LibavInput.Failure) {
        var device: UnsafeMutablePointer<AVBufferRef>?
        try check(library.functions.av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_DRM, file, nil, 0))
        defer { library.functions.av_buffer_unref(&device) }
        frames = library.functions.av_hwframe_ctx_alloc(device)
        guard let description = frames?.pointee.data else { throw LibavInput.Failure(reason: "out of memory") }
        description.withMemoryRebound(to: AVHWFramesContext.self, capacity: 1) { context in
            context.pointee.format = AV_PIX_FMT_DRM_PRIME
            context.pointee.sw_format = format.pixels.blueFirst ? AV_PIX_FMT_BGR0 : AV_PIX_FMT_RGB0
            context.pointee.width = Int32(format.source.width)
            context.pointee.height = Int32(format.source.height)
        }
        try check(library.functions.av_hwframe_ctx_init(frames))
    }

    // MARK: - Filters

    private func makeGraph(on device: UnsafeMutablePointer<AVBufferRef>) throws(LibavInput.Failure) {
        let entrance = try filter("buffer")
        try describeFrames(to: entrance)
        let map = try filter("hwmap")
        map.pointee.hw_device_ctx = library.functions.av_buffer_ref(device)
        let scale = try filter("scale_vaapi")
        let exit = try filter("buffersink")
        try check(filters.avfilter_init_str(entrance, nil))
        try check(filters.avfilter_init_str(map, Self.mapping))
        try check(filters.avfilter_init_str(scale, Self.scaling(to: format.output)))
        try check(filters.avfilter_init_str(exit, nil))
        let chain = [entrance, map, scale, exit]
        for (one, next) in zip(chain, chain.dropFirst()) { try check(filters.avfilter_link(one, 0, next, 0)) }
        try check(filters.avfilter_graph_config(graph, nil))
        (self.entrance, self.exit) = (entrance, exit)
    }

    /// The options of `hwmap`: for reading, and never by a copy.
    package static let mapping = "mode=read+direct"

    /// The options of `scale_vaapi`.
    package static func scaling(to size: PictureSize) -> String {
        "w=\(size.width):h=\(size.height):format=nv12:out_color_matrix=bt709:out_range=limited"
    }

    private func filter(_ name: String) throws(LibavInput.Failure) -> UnsafeMutablePointer<AVFilterContext> {
        guard let kind = filters.avfilter_get_by_name(name) else {
            throw LibavInput.Failure(reason: "libavfilter has no \(name)")
        }
        guard let filter = filters.avfilter_graph_alloc_filter(graph, kind, name) else {
            throw LibavInput.Failure(reason: "out of memory")
        }
        return filter
    }

    private func describeFrames(to entrance: UnsafeMutablePointer<AVFilterContext>) throws(LibavInput.Failure) {
        guard let parameters = filters.av_buffersrc_parameters_alloc() else {
            throw LibavInput.Failure(reason: "out of memory")
        }
        defer { library.functions.av_free(parameters) }
        parameters.pointee.format = AV_PIX_FMT_DRM_PRIME.rawValue
        parameters.pointee.width = Int32(format.source.width)
        parameters.pointee.height = Int32(format.source.height)
        // Frames have no times here, but a filter graph requires a time base.
        parameters.pointee.time_base = AVRational(num: 1, den: 1)
        parameters.pointee.hw_frames_ctx = frames
        try check(filters.av_buffersrc_parameters_set(entrance, parameters))
    }

    private func check(_ status: Int32) throws(LibavInput.Failure) {
        guard status >= 0 else { throw LibavInput.Failure(reason: library.message(for: status)) }
    }
}
