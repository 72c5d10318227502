import CLibAV
import Media
package import Wire

/// An AAC-LC encoder of stereo sound at 48 kHz, by libavcodec's `aac`.
///
/// A packet's decoded sound are the samples two packets before: the window of each packet overlaps the next one's, and
/// the encoder looks at one packet more.
package final class AACSoundEncoder: SoundEncoder {
    package let packetSize = Int(AACParameters.packetSamples)
    package let lookahead: Int
    /// Two packets are in the first one's windows, and two more settle the encoder's choice of windows.
    package let preparation = 4

    private let library: LibavLibrary
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    /// The samples of one packet: left, then right.
    private let planes: UnsafeMutablePointer<Float>
    /// The samples that were encoded.
    private var position: Int64 = 0

    package init(_ coding: SoundCoding) throws(SoundEncoderError) {
        do {
            library = try LibavLibrary.load()
        } catch {
            throw SoundEncoderError(reason: error.reason)
        }
        guard let codec = library.functions.avcodec_find_encoder_by_name("aac") else {
            throw SoundEncoderError(reason: "libavcodec has no encoder named aac")
        }
        context = library.functions.avcodec_alloc_context3(codec)
        frame = library.functions.av_frame_alloc()
        packet = library.functions.av_packet_alloc()
        planes = .allocate(capacity: packetSize * SoundSamples.channels)
        planes.initialize(repeating: 0, count: packetSize * SoundSamples.channels)
        context?.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        context?.pointee.sample_rate = Int32(SoundSamples.rate)
        context?.pointee.time_base = AVRational(num: 1, den: Int32(SoundSamples.rate))
        context?.pointee.bit_rate = Int64(coding.bitrate) * 1000
        if let context { Self.makeStereo(&context.pointee.ch_layout) }
        _ = clibav_take_message()
        let status = library.functions.avcodec_open2(context, codec, nil)
        lookahead = Int(context?.pointee.initial_padding ?? 0) + packetSize
        guard status >= 0 else {
            throw SoundEncoderError(reason: "libavcodec cannot open its encoder aac: \(library.message(for: status))")
        }
        guard let frame, packet != nil, Int(context?.pointee.frame_size ?? 0) == packetSize else {
            throw SoundEncoderError(reason: "libavcodec's encoder aac has packets of another size")
        }
        frame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        frame.pointee.sample_rate = Int32(SoundSamples.rate)
        frame.pointee.nb_samples = Int32(packetSize)
        Self.makeStereo(&frame.pointee.ch_layout)
        frame.pointee.linesize.0 = Int32(packetSize * MemoryLayout<Float>.size)
    }

    deinit {
        library.functions.av_packet_free(&packet)
        library.functions.av_frame_free(&frame)
        library.functions.avcodec_free_context(&context)
        planes.deallocate()
    }

    /// Front left and front right, as `AV_CHANNEL_LAYOUT_STEREO` says.
    private static func makeStereo(_ layout: inout AVChannelLayout) {
        layout.order = AV_CHANNEL_ORDER_NATIVE
        layout.nb_channels = Int32(SoundSamples.channels)
        layout.u.mask = 0b11
    }

    package func encode(_ samples: SoundSamples, standsAlone: Bool) -> [UInt8]? {
        guard let frame, let packet, samples.count == packetSize else { return nil }
        for index in 0..<packetSize {
            planes[index] = samples.values[2 * index]
            planes[packetSize + index] = samples.values[2 * index + 1]
        }
        let planes = UnsafeMutableRawPointer(planes).assumingMemoryBound(to: UInt8.self)
        let right = planes + packetSize * MemoryLayout<Float>.size
        // libavcodec copies the samples, because the frame does not own them.
        frame.pointee.data = (planes, right, nil, nil, nil, nil, nil, nil)
        // Sound that begins after silence follows it without a gap here.
        frame.pointee.pts = position
        position += Int64(packetSize)
        guard library.functions.avcodec_send_frame(context, frame) >= 0,
            library.functions.avcodec_receive_packet(context, packet) >= 0
        else { return nil }
        defer { library.functions.av_packet_unref(packet) }
        guard let data = packet.pointee.data, packet.pointee.size > 0 else { return nil }
        return Array(UnsafeBufferPointer(start: data, count: Int(packet.pointee.size)))
    }
}
