import Media

/// The sample entry of a video track, which describes its pictures (ISO/IEC 14496-12, 8.5.2; 14496-15, 5.4.2.1 and
/// 8.4.1).
struct VideoSampleEntry {
    /// The string that identifies the codec to players; see ``CodecString``.
    let codecs: String
    /// The size of the displayed picture, in luma samples.
    let size: PictureSize
    private let type: StaticString
    private let aspectRatio: SampleAspectRatio
    private let colour: ColourDescription
    private let configuration: BoxWriter

    /// The size of the compressor name, in bytes. The first byte is its length.
    private static let compressorField = 32
    /// The number of bytes of an entry before its first box, after its header.
    static let fieldsSize = 78
    /// 72 dpi as a 16.16 number.
    private static let resolution: UInt32 = 72 << 16
    private static let depth: UInt16 = 24

    /// - Parameter place: Where players find parameter sets.
    init(_ sets: ParameterSetList, codec: Codec, place: FragmentedMP4.ParameterSetPlace) throws(PackagingError) {
        guard let set = sets.sequence.first, !sets.picture.isEmpty, codec == .h264 || !sets.video.isEmpty else {
            throw .noParameterSets
        }
        let all = [sets.video, sets.sequence, sets.picture].joined()
        guard !sets.isTooLong, all.allSatisfy({ $0.count <= UInt16.max }) else { throw .tooLarge }
        let signal: VideoSignal?
        do {
            switch codec {
            case .h264:
                // numOfSequenceParameterSets has five bits, numOfPictureParameterSets eight.
                guard sets.sequence.count <= 31, sets.picture.count <= 255 else { throw PackagingError.tooLarge }
                let sequence = try H264SequenceParameterSet(unit: set[...])
                (size, signal) = (sequence.croppedSize, sequence.signal)
                type = place == .inBand ? "avc3" : "avc1"
                codecs = CodecString.h264(
                    "\(type)",
                    profile: sequence.profile,
                    constraints: sequence.constraints,
                    level: sequence.level
                )
                configuration = AVCConfiguration.box(sequence, sets)
            case .h265:
                let sequence = try H265SequenceParameterSet(unit: set[...])
                (size, signal) = (sequence.croppedSize, sequence.signal)
                type = place == .inBand ? "hev1" : "hvc1"
                codecs = CodecString.h265("\(type)", sequence.profileTierLevel)
                configuration = HEVCConfiguration.box(sequence, sets, isComplete: place != .inBand)
            }
        } catch let error as BitstreamError {
            throw .damagedParameterSet(error)
        } catch let error as PackagingError {
            throw error
        } catch {
            throw .noParameterSets
        }
        // Sides have 16 bits.
        guard size.width <= UInt16.max, size.height <= UInt16.max else { throw .tooLarge }
        aspectRatio = signal?.aspectRatio ?? SampleAspectRatio(width: 1, height: 1)
        colour = signal?.colour ?? .bt709Limited
    }

    /// The track's width and height, which `tkhd` gives in square pixels, as 16.16 numbers.
    var trackSize: (width: UInt32, height: UInt32) {
        let width = ((size.width << 16) &* aspectRatio.width).dividedReportingOverflow(by: aspectRatio.height)
        return (UInt32(clamping: width.partialValue), UInt32(clamping: size.height) << 16)
    }

    /// The record of parameter sets, without its box.
    var configurationRecord: [UInt8] { Array(configuration.bytes.dropFirst(BoxWriter.headerSize)) }

    func write(to writer: inout BoxWriter) {
        writer.box(type) { entry in
            entry.zeros(6)
            entry.put(UInt16(1))  // data_reference_index
            entry.zeros(16)
            entry.put(UInt16(clamping: size.width))
            entry.put(UInt16(clamping: size.height))
            entry.put(Self.resolution)
            entry.put(Self.resolution)
            entry.zeros(4)
            entry.put(UInt16(1))  // frame_count
            entry.zeros(Self.compressorField)
            entry.put(Self.depth)
            entry.put(Int16(-1))
            entry.put(configuration.bytes)
            entry.box("colr") { box in
                box.put("nclx")
                box.put(UInt16(clamping: colour.primaries))
                box.put(UInt16(clamping: colour.transfer))
                box.put(UInt16(clamping: colour.matrix))
                box.put((colour.isFullRange ? 0x80 : 0) as UInt8)
            }
            entry.box("pasp") { box in
                box.put(UInt32(clamping: aspectRatio.width))
                box.put(UInt32(clamping: aspectRatio.height))
            }
        }
    }
}

/// The sample entry of an Opus track (*Encapsulation of Opus in ISO Base Media File Format*, 4.3).
enum OpusSampleEntry {
    static func write(_ parameters: OpusParameters, to writer: inout BoxWriter) {
        writer.soundEntry("Opus", channels: parameters.channels, sampleRate: OpusParameters.sampleRate) { entry in
            entry.box("dOps") { box in
                box.put(UInt8(0))  // Version
                box.put(parameters.channels)
                box.put(parameters.preSkip)
                box.put(OpusParameters.sampleRate)
                box.put(Int16(0))  // OutputGain
                box.put(UInt8(0))  // ChannelMappingFamily
            }
        }
    }
}

/// The sample entry of an AAC track (ISO/IEC 14496-14, 5.6), with the descriptors of ISO/IEC 14496-1, 7.2.6.
enum AACSampleEntry {
    static func write(_ parameters: AACParameters, to writer: inout BoxWriter) {
        writer.soundEntry("mp4a", channels: parameters.channels, sampleRate: SoundCodec.sampleRate) { entry in
            entry.fullBox("esds") { box in
                box.put([0x03, 25])  // ES_Descriptor
                box.zeros(3)  // ES_ID, no flags
                box.put([0x04, 17])  // DecoderConfigDescriptor
                box.put([0x40, 0x15])  // ISO/IEC 14496-3, an audio stream
                box.zeros(3 + 4 + 4)  // bufferSizeDB, maxBitrate, avgBitrate: not known
                box.put([0x05, 2])  // DecoderSpecificInfo
                box.put(configuration(parameters))
                box.put([0x06, 1, 2])  // SLConfigDescriptor: predefined for MP4
            }
        }
    }

    /// Returns the `codecs` parameter of an entry (RFC 6381, 3.3): the type of its stream (ISO/IEC 14496-1, 7.2.6.6)
    /// and, if that is MPEG-4 audio, the type of its objects.
    static func codec(_ entry: [UInt8]) -> String {
        entry.read { entry in
            var box = entry
            guard var fields = box.nextBox()?.payload, fields.skip(BoxWriter.soundFieldsSize),
                var stream = fields.box(.streamDescriptor), stream.skip(4), var descriptor = stream.descriptor(3),
                descriptor.skip(2), let flags = descriptor.u8(),
                // Without an address; the ids of another stream and of its clock.
                flags & 0x40 == 0, descriptor.skip(flags & 0x80 == 0 ? 0 : 2),
                descriptor.skip(flags & 0x20 == 0 ? 0 : 2), var decoder = descriptor.descriptor(4),
                let type = decoder.u8()
            else { return "mp4a" }
            let name = "mp4a." + String(type, radix: 16)
            guard type == 0x40, decoder.skip(12), let configuration = decoder.descriptor(5),
                let first = configuration[at: 0], let second = configuration[at: 1]
            else { return name }
            let object = first >> 3
            return "\(name).\(object == 31 ? 32 &+ (first & 7) << 3 &+ second >> 5 : object)"
        }
    }

    /// `AudioSpecificConfig` (ISO/IEC 14496-3, 1.6.2.1): object type 2, AAC LC; frequency; channels; frames of 1,024
    /// samples.
    private static func configuration(_ parameters: AACParameters) -> UInt16 {
        2 << 11 | UInt16(clamping: AACParameters.frequencyIndex) << 7 | UInt16(clamping: parameters.channels) << 3
    }
}

extension ByteReader {
    /// Returns the contents of the first descriptor with a tag (ISO/IEC 14496-1, 8.3.3).
    fileprivate func descriptor(_ wanted: UInt8) -> ByteReader? {
        var rest = self
        while let tag = rest.u8() {
            var (size, bytes) = (0, 0)
            while let byte = rest.u8() {
                (size, bytes) = (size << 7 | Int(clamping: byte & 0x7F), bytes &+ 1)
                if byte & 0x80 == 0 || bytes == 4 { break }
            }
            guard let contents = rest.take(size) else { return nil }
            if tag == wanted { return contents }
        }
        return nil
    }
}

extension BoxWriter {
    /// The number of bytes of an audio entry before its first box, after its header.
    fileprivate static let soundFieldsSize = 28

    /// Writes an `AudioSampleEntry` (ISO/IEC 14496-12, 12.2.3) with the boxes that its codec needs.
    fileprivate mutating func soundEntry(
        _ type: StaticString,
        channels: UInt8,
        sampleRate: UInt32,
        _ boxes: (inout BoxWriter) -> Void
    ) {
        box(type) { entry in
            entry.zeros(6)
            entry.put(UInt16(1))  // data_reference_index
            entry.zeros(8)
            entry.put(UInt16(clamping: channels))
            entry.put(UInt16(16))  // samplesize
            entry.zeros(4)
            entry.put(sampleRate << 16)
            boxes(&entry)
        }
    }
}
