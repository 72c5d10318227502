import Media
import Testing

/// Tests of stream admission with hand-written headers, for cases that the real encoders of the stream tests do not
/// produce.
@Suite("Admission of free repeats")
struct RepeatAdmissionTests {
    @Test("the map of slice groups is not read")
    func sliceGroupMap() throws {
        var writer = BitWriter()
        writer.u(8, 0x68)
        for value in [0, 0] { writer.ue(value) }
        for value in [false, false] { writer.flag(value) }
        // Two groups, given by a map of which only the size is written.
        for value in [1, 6, 1 << 20] { writer.ue(value) }
        writer.trailingBits()
        let unit = writer.annexBUnit().drop { $0 == 0 }.dropFirst()
        #expect(try H264PictureParameterSet(unit: unit).sliceGroups == 2)
    }

    @Test("a slice does not reorder more references than it has")
    func endlessModification() throws {
        let sample = H264Sample()
        var writer = BitWriter()
        writer.u(8, 0x41)
        for value in [0, 0, 0] { writer.ue(value) }  // first_mb_in_slice, slice_type P, pic_parameter_set_id
        writer.u(4, 1)  // frame_num
        writer.flag(false)  // num_ref_idx_active_override_flag: one reference
        writer.flag(true)  // ref_pic_list_modification_flag_l0
        for _ in 0..<1000 { for value in [0, 0] { writer.ue(value) } }
        writer.trailingBits()
        var stream = RepeatableStream(codec: .h264)
        _ = try stream.live(sample.parameterSets + sample.idr)
        _ = try stream.live(writer.annexBUnit())
        let reason = BitstreamError.outOfRange("modification_of_pic_nums_idc")
        #expect(stream.admission == .refused(.malformed(unitType: 1, reason)))
    }

    typealias H264Case = (RepeatRefusal, @Sendable (inout H264Sample) -> Void)
    typealias H265Case = (RepeatRefusal, @Sendable (inout H265Sample) -> Void)

    static let h264: [H264Case] = [
        (
            .separateColourPlanes,
            {
                $0.profile = 244
                $0.chromaFormat = 3
                $0.hasSeparateColourPlanes = true
            }
        ),
        (.referenceFrames(2), { $0.referenceFrames = 2 }),
        (.pictureOrder, { $0.pictureOrderType = 1 }),
        (.pictureOrder, { $0.hasFieldOrder = true }),
        (.sliceGroups, { $0.sliceGroups = 2 }),
        (.redundantPictures, { $0.hasRedundantPictures = true }),
        (.noFreeParameterSetID, { $0.pictureIDs = Array(0...31) }),
        (.longTermReference, { $0.isLongTerm = true }),
        (.nonReferencePicture, { $0.referenceIDC = 0 }),
        (.bidirectional, { $0.sliceType = 1 }),
        (.switching, { $0.sliceType = 3 }),
        (.severalActiveReferences, { $0.activeReferences = 2 }),
        (.listModification, { $0.modification = (0, 1) }),
        (.listModification, { $0.modification = (2, 0) }),
        (.memoryOperations, { $0.hasMemoryOperations = true }),
        (.notOnePicture, { $0.firstMacroblock = 3 }),
        (.gap, { $0.frameNumber = 2 }),
    ]

    @Test("an H.264 stream that an inserted picture would break is refused with the reason", arguments: h264)
    func refusedH264(_ reason: RepeatRefusal, change: @Sendable (inout H264Sample) -> Void) throws {
        var sample = H264Sample()
        change(&sample)
        var stream = RepeatableStream(codec: .h264)
        _ = try stream.live(sample.parameterSets + sample.idr)
        _ = try stream.live(sample.predicted)
        #expect(stream.admission == .refused(reason))
    }

    @Test("H.264 with one reference is admitted, also with a list that only says what holds anyway")
    func admittedH264() throws {
        let changes: [(inout H264Sample) -> Void] = [
            { _ in },
            { $0.pictureOrderType = 0 },
            { $0.modification = (0, 0) },
            { $0.pictureIDs = [31, 30, 7] },
            { $0.profile = 244 },
        ]
        for change in changes {
            var sample = H264Sample()
            change(&sample)
            var stream = RepeatableStream(codec: .h264)
            _ = try stream.live(sample.parameterSets + sample.idr)
            let predicted = try stream.live(sample.predicted)
            #expect(stream.admission == .admitted)
            #expect(predicted == sample.predicted)
        }
    }

    @Test("a keyframe without parameter sets, two pictures in one access unit and strange units are refused")
    func accessUnits() throws {
        let sample = H264Sample()
        let keyframe = sample.parameterSets + sample.idr
        let cases: [([UInt8], RepeatRefusal)] = [
            (sample.idr, .malformed(unitType: 5, .outOfRange("pic_parameter_set_id"))),
            (keyframe + sample.idr, .notOnePicture),
            (keyframe + sample.predicted, .notOnePicture),
            (sample.parameterSets, .notOnePicture),
            (keyframe + [0, 0, 1, 0x6A], .unitType(10)),
            (Array(keyframe.dropLast(4)), .malformed(unitType: 5, .endOfUnit)),
        ]
        for (accessUnit, reason) in cases {
            var stream = RepeatableStream(codec: .h264)
            let sent = try stream.live(accessUnit)
            #expect(stream.admission == .refused(reason))
            #expect(sent == accessUnit)
        }
        var stream = RepeatableStream(codec: .h264)
        _ = try stream.live(keyframe)
        _ = try stream.live(sample.idr)
        #expect(stream.admission == .refused(.keyframeWithoutParameterSets))
    }

    static let h265: [H265Case] = [
        (.longTermReference, { $0.hasLongTermReferences = true }),
        (.hiddenPictures, { $0.hasOutputFlag = true }),
        (.layersOrExtensions, { $0.sequenceExtensions = 0x10 }),
        (.layersOrExtensions, { $0.header = 1 << 9 | 2 }),
        (.unitType(0), { $0.header = 1 }),
        (.referencePictureSet, { $0.distances = [-2] }),
        (.referencePictureSet, { $0.distances = [-1, -2, -3] }),
        (.severalActiveReferences, { $0.activeReferences = 2 }),
        (.bidirectional, { $0.sliceType = 0 }),
    ]

    @Test("an H.265 stream that an inserted picture would break is refused with the reason", arguments: h265)
    func refusedH265(_ reason: RepeatRefusal, change: @Sendable (inout H265Sample) -> Void) throws {
        var sample = H265Sample()
        change(&sample)
        var stream = RepeatableStream(codec: .h265)
        _ = try stream.live(sample.parameterSets + sample.idr)
        _ = try stream.live(sample.predicted(pictureOrder: 1))
        #expect(stream.admission == .refused(reason))
    }

    @Test("a range extension and a second reference that no picture uses do no harm")
    func admittedH265() throws {
        var sample = H265Sample()
        sample.sequenceExtensions = 0x80
        sample.distances = [-1, -2]
        var stream = RepeatableStream(codec: .h265)
        _ = try stream.live(sample.parameterSets + sample.idr)
        _ = try stream.live(sample.predicted(pictureOrder: 1))
        #expect(stream.admission == .admitted)
    }

    @Test("after inserted pictures the number is raised in the first segment, and dependent segments stay as they are")
    func dependentSegments() throws {
        let sample = H265Sample()
        var stream = RepeatableStream(codec: .h265)
        _ = try stream.live(sample.parameterSets + sample.idr)
        _ = try stream.live(sample.predicted(pictureOrder: 1))
        for _ in 0..<20 { _ = stream.skip() }
        let rest = sample.dependent(address: 3) + sample.dependent(address: 9)
        let sent = try stream.live(sample.predicted(pictureOrder: 2) + rest)
        // 22 in four bits.
        #expect(sent == sample.predicted(pictureOrder: 6) + rest)
    }
}
