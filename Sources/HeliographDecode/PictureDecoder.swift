import CAVCodec
import Glibc
public import HeliographClient

/// A decoder of a session's pictures, by libavcodec on the processor.
///
///     let decoder = PictureDecoder()
///     for try await unit in live.video {
///         guard let frame = try decoder.decode(unit) else { continue }
///         if let png = frame.png() { try Data(png).write(to: file) }
///     }
///
/// Each picture comes out as soon as it goes in: a session's pictures have no later ones that they refer to. A picture
/// in which libavcodec notices damage never comes out, nor does one that may refer to it.
public final class PictureDecoder {
    /// The most pixels of a picture: sides of a session have at most 8192.
    private static let mostPixels: Int64 = 8192 * 8192

    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var packet = av_packet_alloc()
    /// The codec that the context is for.
    private var isH265 = false
    private var needsKeyframe = true

    public init() {}

    deinit {
        avcodec_free_context(&context)
        av_packet_free(&packet)
    }

    /// Decodes a picture of `LiveSession.video`. Hand in each of them, also repeats: later ones refer to them.
    ///
    /// - Returns: `nil` if there is nothing to show, because a keyframe must come first.
    /// - Throws: ``DecodeError``. Go on with the next unit: after damage, a keyframe begins anew. Ask for one
    ///   by `LiveSession.requestKeyframe()`.
    public func decode(_ unit: MediaUnit) throws(DecodeError) -> Frame? {
        guard case .picture(let format) = unit.content else { return nil }
        if unit.isKeyframe {
            try open(format)
            needsKeyframe = false
        }
        guard !needsKeyframe, let context, let packet else { return nil }
        do throws(DecodeError) {
            try send(unit, packet, to: context)
            return try receive(unit, from: context, orientation: format.orientation)
        } catch {
            needsKeyframe = true
            throw error
        }
    }

    /// Makes the decoder one of the format's codec, at a keyframe, which refers to nothing before it.
    private func open(_ format: PictureFormat) throws(DecodeError) {
        if context != nil, isH265 == format.isH265, !needsKeyframe { return }
        avcodec_free_context(&context)
        isH265 = format.isH265
        guard let codec = avcodec_find_decoder(isH265 ? AV_CODEC_ID_HEVC : AV_CODEC_ID_H264),
            let new = avcodec_alloc_context3(codec)
        else { throw .unsupported(codec: isH265 ? "H.265" : "H.264") }
        context = new
        new.pointee.flags |= AV_CODEC_FLAG_LOW_DELAY
        // Threads for whole pictures would each hold one back, and those for slices do not report damage.
        new.pointee.thread_count = 1
        new.pointee.err_recognition = AV_EF_EXPLODE
        new.pointee.max_pixels = Self.mostPixels
        // Errors are thrown, not printed.
        new.pointee.log_level_offset = AV_LOG_TRACE
        let status = avcodec_open2(new, codec, nil)
        if status < 0 { throw .library(Self.message(for: status)) }
    }

    private func send(
        _ unit: MediaUnit,
        _ packet: UnsafeMutablePointer<AVPacket>,
        to context: UnsafeMutablePointer<AVCodecContext>
    ) throws(DecodeError) {
        // Owned by the library, which wants its padding after the bytes.
        guard let size = Int32(exactly: unit.bytes.count), av_new_packet(packet, size) == 0 else {
            throw .library("no memory for \(unit.bytes.count) bytes")
        }
        defer { av_packet_unref(packet) }
        packet.pointee.data.update(from: unit.bytes, count: unit.bytes.count)
        packet.pointee.pts = unit.pts
        if unit.isKeyframe { packet.pointee.flags |= AV_PKT_FLAG_KEY }
        let status = avcodec_send_packet(context, packet)
        if status == -ENOMEM { throw .library(Self.message(for: status)) }
        if status < 0 { throw .damaged }
    }

    /// Returns the frame of the picture that was sent.
    private func receive(
        _ unit: MediaUnit,
        from context: UnsafeMutablePointer<AVCodecContext>,
        orientation: Int
    ) throws(DecodeError) -> Frame {
        while true {
            guard let memory = Frame.Memory() else { throw .library("no memory for a frame") }
            let status = avcodec_receive_frame(context, memory.frame)
            // A decoder that holds pictures back has missed one.
            guard status >= 0, memory.frame.pointee.decode_error_flags == 0,
                memory.frame.pointee.flags & AV_FRAME_FLAG_CORRUPT == 0
            else { throw .damaged }
            if memory.frame.pointee.pts == unit.pts { return try Frame(memory, orientation: orientation) }
        }
    }

    /// Returns what libavcodec calls an error.
    private static func message(for status: Int32) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(AV_ERROR_MAX_STRING_SIZE)) { text in
            av_strerror(status, text.baseAddress, text.count)
            return String(cString: text.baseAddress!)
        }
    }
}
