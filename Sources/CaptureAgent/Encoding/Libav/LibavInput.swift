import CLibAV
import CYUV
import Media

/// Copies pictures into frames of the form that a libavcodec encoder accepts.
final class LibavInput {
    /// A form of input.
    enum Form: Equatable {
        /// The planes as they are.
        case planar
        /// Interleaved chroma samples.
        case semiplanar
        /// A surface of the VA-API device with that file.
        case surface(device: String)

        /// The frames' pixel format.
        var pixelFormat: AVPixelFormat {
            switch self {
            case .planar: AV_PIX_FMT_YUV420P
            case .semiplanar: AV_PIX_FMT_NV12
            case .surface: AV_PIX_FMT_VAAPI
            }
        }
    }

    struct Failure: Error {
        let reason: String
    }

    /// The surfaces for the encoder's context; `nil` if frames are in memory.
    private(set) var surfaces: UnsafeMutablePointer<AVBufferRef>?

    private let library: LibavLibrary
    private let size: PictureSize
    private let form: Form
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var surface: UnsafeMutablePointer<AVFrame>?
    /// The semiplanar picture: luma, then chroma. Rows are padded to whole vectors.
    private let semiplanar: UnsafeMutablePointer<UInt8>?
    private let stride: Int

    init(form: Form, size: PictureSize, library: LibavLibrary) throws(Failure) {
        self.form = form
        self.size = size
        self.library = library
        stride = (size.width + 63) & ~63
        semiplanar = form == .planar ? nil : .allocate(capacity: stride * size.height * 3 / 2)
        frame = library.functions.av_frame_alloc()
        surface = library.functions.av_frame_alloc()
        if case .surface(let device) = form { surfaces = try makeSurfaces(device: device) }
    }

    deinit {
        library.functions.av_frame_free(&frame)
        library.functions.av_frame_free(&surface)
        library.functions.av_buffer_unref(&surfaces)
        semiplanar?.deallocate()
    }

    /// The surfaces' device and its file; `nil` if frames are in memory.
    var device: (UnsafeMutablePointer<AVBufferRef>, file: String)? {
        guard case .surface(let file) = form, let description = surfaces?.pointee.data else { return nil }
        return description.withMemoryRebound(to: AVHWFramesContext.self, capacity: 1) { context in
            context.pointee.device_ref.map { ($0, file: file) }
        }
    }

    /// Returns the picture in a frame, valid until the next call.
    func frame(for picture: PlanarPicture) throws(Failure) -> UnsafeMutablePointer<AVFrame> {
        guard let frame else { throw Failure(reason: "out of memory") }
        frame.pointee.width = Int32(size.width)
        frame.pointee.height = Int32(size.height)
        frame.pointee.format = (form == .planar ? AV_PIX_FMT_YUV420P : AV_PIX_FMT_NV12).rawValue
        if let semiplanar {
            let chroma = semiplanar + stride * size.height
            frame.pointee.data = (semiplanar, chroma, nil, nil, nil, nil, nil, nil)
            frame.pointee.linesize = (Int32(stride), Int32(stride), 0, 0, 0, 0, 0, 0)
            let (luma, half) = (Int32(picture.lumaStride), Int32(picture.chromaStride))
            // It fails only for null pointers and empty sizes.
            _ = I420ToNV12(
                picture.y,
                luma,
                picture.u,
                half,
                picture.v,
                half,
                semiplanar,
                Int32(stride),
                chroma,
                Int32(stride),
                Int32(size.width),
                Int32(size.height)
            )
        } else {
            frame.pointee.data = (picture.y, picture.u, picture.v, nil, nil, nil, nil, nil)
            let (luma, half) = (Int32(picture.lumaStride), Int32(picture.chromaStride))
            frame.pointee.linesize = (luma, half, half, 0, 0, 0, 0, 0)
        }
        guard let surfaces else { return frame }
        return try upload(frame, to: surfaces)
    }

    // MARK: - VA-API

    private func makeSurfaces(device path: String) throws(Failure) -> UnsafeMutablePointer<AVBufferRef>? {
        var device: UnsafeMutablePointer<AVBufferRef>?
        let opened = library.functions.av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_VAAPI, path, nil, 0)
        guard opened >= 0 else { throw Failure(reason: "\(path): \(library.message(for: opened))") }
        defer { library.functions.av_buffer_unref(&device) }
        var frames = library.functions.av_hwframe_ctx_alloc(device)
        guard let description = frames?.pointee.data else { throw Failure(reason: "out of memory") }
        description.withMemoryRebound(to: AVHWFramesContext.self, capacity: 1) { context in
            context.pointee.format = AV_PIX_FMT_VAAPI
            context.pointee.sw_format = AV_PIX_FMT_NV12
            context.pointee.width = Int32(size.width)
            context.pointee.height = Int32(size.height)
            context.pointee.initial_pool_size = 4
        }
        let status = library.functions.av_hwframe_ctx_init(frames)
        guard status >= 0 else {
            library.functions.av_buffer_unref(&frames)
            throw Failure(reason: "\(path) has no surfaces of \(size): \(library.message(for: status))")
        }
        return frames
    }

    private func upload(
        _ frame: UnsafeMutablePointer<AVFrame>,
        to surfaces: UnsafeMutablePointer<AVBufferRef>
    ) throws(Failure) -> UnsafeMutablePointer<AVFrame> {
        guard let surface else { throw Failure(reason: "out of memory") }
        library.functions.av_frame_unref(surface)
        var status = library.functions.av_hwframe_get_buffer(surfaces, surface, 0)
        if status >= 0 { status = library.functions.av_hwframe_transfer_data(surface, frame, 0) }
        guard status >= 0 else { throw Failure(reason: "no picture can be uploaded: \(library.message(for: status))") }
        return surface
    }
}
