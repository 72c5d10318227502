package import Media

/// What a movie says of a track besides its samples.
package struct TrackDescription: Sendable, Equatable {
    /// `track_ID`, which is not 0.
    package let id: UInt32
    package let kind: MediaTrack.Kind
    /// Time units per second.
    package let timescale: UInt32
    /// The size at which a picture is shown, as 16.16 numbers; 0 for sound.
    let (width, height): (UInt32, UInt32)
    /// The box of the only sample entry.
    package let sampleEntry: [UInt8]

    /// The unit matrix: 16.16 numbers, the last column 2.30.
    static let matrix: [UInt32] = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000]
    /// `und` as three times five bits.
    private static let undeterminedLanguage: UInt16 = 0x55C4

    /// - Parameter video: The sample entry of the video track.
    init(_ track: MediaTrack, _ video: VideoSampleEntry) {
        id = Self.id(of: track)
        kind = track.kind
        timescale = track.timescale
        (width, height) = track.kind == .video ? video.trackSize : (0, 0)
        var writer = BoxWriter()
        switch track.coding {
        case .video: video.write(to: &writer)
        case .opus(let parameters): OpusSampleEntry.write(parameters, to: &writer)
        case .aac(let parameters): AACSampleEntry.write(parameters, to: &writer)
        }
        sampleEntry = writer.bytes
    }

    /// Creates the description of a silent track.
    package init(silentIn codec: SoundCodec) {
        var writer = BoxWriter()
        switch codec {
        case .opus: OpusSampleEntry.write(.stereo, to: &writer)
        case .aac: AACSampleEntry.write(.stereo, to: &writer)
        }
        self.init(
            id: 1,
            kind: .audio,
            timescale: SoundCodec.sampleRate,
            width: 0,
            height: 0,
            sampleEntry: writer.bytes
        )
    }

    init(
        id: UInt32,
        kind: MediaTrack.Kind,
        timescale: UInt32,
        width: UInt32,
        height: UInt32,
        sampleEntry: [UInt8]
    ) {
        self.id = id
        self.kind = kind
        self.timescale = timescale
        (self.width, self.height) = (width, height)
        self.sampleEntry = sampleEntry
    }

    /// Returns the `track_ID` of a stream's track.
    package static func id(of track: MediaTrack) -> UInt32 { UInt32(clamping: track.id) + 1 }

    /// The `codecs` parameter of the media type (RFC 6381): `avc1.42C01F`, `opus`. Without what is unknown here, it is
    /// the type of the sample entry.
    package var codec: String {
        readConfiguration { type, record in
            switch (type, record) {
            case ("Opus", _): return "opus"
            case ("mp4a", _): return AACSampleEntry.codec(sampleEntry)
            case ("avc1", let box?), ("avc3", let box?):
                guard let profile = box[at: 1], let constraints = box[at: 2], let level = box[at: 3] else {
                    return type
                }
                return CodecString.h264(type, profile: profile, constraints: constraints, level: level)
            case ("hvc1", let box?), ("hev1", let box?):
                // The record's version stands where a sequence parameter set has its first fields.
                let set = [0, 0] + box.bytes
                return (try? H265ProfileTierLevel(sequenceParameterSet: set[...])).map { CodecString.h265(type, $0) }
                    ?? type
            default: return type
            }
        }
    }

    /// The codec of a track of sound; `nil` for pictures, and for other codecs.
    package var soundCodec: SoundCodec? {
        guard kind == .audio else { return nil }
        switch codec {
        case "opus": return .opus
        case "mp4a.40.2": return .aac
        default: return nil
        }
    }

    /// Passes `body` the type of the sample entry, and the payload of a video entry's box with the decoder's
    /// configuration; `nil` if it has none.
    func readConfiguration<Result>(_ body: (_ type: String, _ record: ByteReader?) -> Result) -> Result {
        sampleEntry.read { entry in
            var (entry, record) = (entry, ByteReader?.none)
            if var boxes = entry.nextBox()?.payload, boxes.skip(VideoSampleEntry.fieldsSize) {
                record = boxes.box(.avcConfiguration) ?? boxes.box(.hevcConfiguration)
            }
            return body(String(decoding: sampleEntry[in: 4..<8], as: UTF8.self), record)
        }
    }

    /// The size at which a picture is shown, in square pixels; `nil` for sound.
    package var pictureSize: PictureSize? {
        kind == .video ? PictureSize(width: Int(clamping: width >> 16), height: Int(clamping: height >> 16)) : nil
    }

    /// Returns the place of each track among those of which a player plays one, the tracks of sound; `nil` for a track
    /// that is always played.
    static func alternatives(among tracks: [TrackDescription]) -> [Int?] {
        let sounds = tracks.indices.filter { tracks[at: $0]?.kind == .audio }
        return tracks.indices.map { sounds.count > 1 ? sounds.firstIndex(of: $0) : nil }
    }

    // MARK: Boxes

    /// Writes a `trak`.
    ///
    /// - Parameters:
    ///   - samples: The track's samples; empty in an initialization segment.
    ///   - end: When the last sample ends, in the track's time scale; 0 without samples.
    ///   - edit: Where the track's time begins in the movie's; `nil` for no edit list.
    ///   - alternative: As from ``alternatives(among:)``.
    func write(
        _ samples: SampleTable,
        end: UInt64,
        edit: EditList?,
        alternative: Int?,
        to writer: inout BoxWriter
    ) {
        // The media's time begins with its first sample.
        let duration = end &- min(end, samples.times.first ?? 0)
        writer.box("trak") { box in
            writeHeader(
                duration: edit?.end ?? MovieHeader.duration(duration, of: timescale),
                alternative: alternative,
                to: &box
            )
            edit?.write(to: &box)
            box.box("mdia") { media in
                writeMediaHeader(duration: duration, to: &media)
                media.box("minf") { information in
                    switch kind {
                    case .video: information.fullBox("vmhd", flags: 1) { $0.zeros(8) }
                    case .audio: information.fullBox("smhd") { $0.zeros(4) }
                    }
                    Self.writeDataInformation(to: &information)
                    information.box("stbl") { table in
                        table.fullBox("stsd") { descriptions in
                            descriptions.put(UInt32(1))
                            descriptions.put(sampleEntry)
                        }
                        samples.write(end: end, to: &table)
                    }
                }
            }
        }
    }

    private func writeHeader(duration: UInt64, alternative: Int?, to writer: inout BoxWriter) {
        // Flags: enabled, in the movie. Of alternatives, only the first one is enabled.
        writer.timedBox("tkhd", flags: alternative ?? 0 > 0 ? 2 : 3, duration: duration) { box in
            box.put(id)
            box.zeros(4)
        } _: { box in
            box.zeros(10)
            box.put((alternative == nil ? 0 : 1) as UInt16)  // alternate_group
            box.put(kind == .audio ? UInt16(0x100) : 0)  // volume 1.0
            box.zeros(2)
            for number in Self.matrix { box.put(number) }
            box.put(width)
            box.put(height)
        }
    }

    private func writeMediaHeader(duration: UInt64, to writer: inout BoxWriter) {
        writer.timedBox("mdhd", duration: duration) { box in
            box.put(timescale)
        } _: { box in
            box.put(Self.undeterminedLanguage)
            box.zeros(2)
        }
        writer.fullBox("hdlr") { box in
            box.zeros(4)
            box.put(kind == .video ? "vide" : "soun")
            box.zeros(12 + 1)  // reserved, and an empty name
        }
    }

    private static func writeDataInformation(to writer: inout BoxWriter) {
        writer.box("dinf") { data in
            data.fullBox("dref") { references in
                references.put(UInt32(1))
                // Flag: the media is in this file.
                references.fullBox("url ", flags: 1) { _ in }
            }
        }
    }
}

/// The time at which a track's media plays in the movie (ISO/IEC 14496-12, 8.6.6).
///
/// Times are in the movie's time scale, unless they say otherwise.
struct EditList {
    /// How long nothing of the track plays first.
    let delay: UInt64
    /// The time of the media with which it begins, in the track's time scale.
    let mediaTime: UInt64
    /// How long the media plays.
    let duration: UInt64

    /// When the track ends.
    var end: UInt64 { delay &+ duration }

    func write(to writer: inout BoxWriter) {
        writer.box("edts") { box in
            box.fullBox("elst", version: 1) { list in
                list.put(delay > 0 ? 2 : 1 as UInt32)
                if delay > 0 { Self.write(duration: delay, mediaTime: -1, to: &list) }
                Self.write(duration: duration, mediaTime: Int64(clamping: mediaTime), to: &list)
            }
        }
    }

    private static func write(duration: UInt64, mediaTime: Int64, to list: inout BoxWriter) {
        list.put(duration)
        list.put(mediaTime)
        list.put(UInt32(0x10000))  // rate 1.0
    }
}

/// The header of a movie.
enum MovieHeader {
    /// Units per second of a movie's times.
    static let timescale: UInt32 = 1_000_000

    /// Converts a time in a track's time scale to the movie's.
    static func duration(_ ticks: UInt64, of scale: UInt32) -> UInt64 { convert(ticks, from: scale, to: timescale) }

    /// Converts a time of the movie to a track's time scale.
    static func ticks(_ time: UInt64, of scale: UInt32) -> UInt64 { convert(time, from: timescale, to: scale) }

    /// Rounds to the nearest unit. Neither scale is more than 32 bits, so only whole seconds could overflow.
    private static func convert(_ time: UInt64, from: UInt32, to: UInt32) -> UInt64 {
        let (from, to) = (UInt64(clamping: max(1, from)), UInt64(clamping: to))
        let (seconds, rest) = (time.dividedReportingOverflow(by: from).partialValue, time % from)
        return seconds &* to &+ (rest &* to &+ from / 2).dividedReportingOverflow(by: from).partialValue
    }

    /// Writes `mvhd`.
    ///
    /// - Parameters:
    ///   - duration: In µs; 0 if unknown.
    ///   - nextTrack: The lowest unused `track_ID`.
    static func write(duration: UInt64, nextTrack: UInt32, to writer: inout BoxWriter) {
        writer.timedBox("mvhd", duration: duration) { box in
            box.put(timescale)
        } _: { box in
            box.put(UInt32(0x10000))  // rate 1.0
            box.put(UInt16(0x100))  // volume 1.0
            box.zeros(10)
            for number in TrackDescription.matrix { box.put(number) }
            box.zeros(24)
            box.put(nextTrack)  // next_track_ID
        }
    }
}

extension BoxWriter {
    /// Writes a header whose times have 32 bits if that is enough: two dates, which are not known, fields, and a
    /// duration.
    fileprivate mutating func timedBox(
        _ type: StaticString,
        flags: UInt32 = 0,
        duration: UInt64,
        _ fields: (inout BoxWriter) -> Void,
        _ more: (inout BoxWriter) -> Void
    ) {
        let isLong = duration > UInt64(UInt32.max)
        fullBox(type, version: isLong ? 1 : 0, flags: flags) { box in
            box.zeros(isLong ? 16 : 8)
            fields(&box)
            if isLong { box.put(duration) } else { box.put(UInt32(clamping: duration)) }
            more(&box)
        }
    }
}
