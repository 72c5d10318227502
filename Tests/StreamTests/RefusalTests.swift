import Media
import TestSupport
import Testing

/// Tests of streams that cannot take inserted pictures.
@Suite("Streams without free repeats")
struct RefusalTests {
    static let refused: [(SourceSettings, RepeatRefusal)] = [
        (SourceSettings(name: "interlaced", parameters: "interlaced=1"), .interlaced),
        (SourceSettings(name: "three references", parameters: "ref=3"), .referenceFrames(3)),
        (SourceSettings(name: "B pictures", parameters: "bframes=1:b-pyramid=0"), .referenceFrames(2)),
        (
            SourceSettings(name: "HRD", parameters: "nal-hrd=vbr:vbv-maxrate=2000:vbv-bufsize=1000"), .timing
        ),
        (SourceSettings(name: "picture structure", parameters: "pic-struct=1"), .timing),
        (SourceSettings(name: "intra refresh", parameters: "intra-refresh=1:keyint=20"), .timing),
        (SourceSettings(name: "H.265, fields", encoder: .x265, parameters: "interlace=tff"), .interlaced),
        (
            SourceSettings(name: "H.265, three references", encoder: .x265, preset: "medium", parameters: "ref=3"),
            .severalActiveReferences
        ),
        (SourceSettings(name: "H.265, temporal motion", encoder: .x265, parameters: "temporal-mvp=1"), .temporalMotion),
        (
            SourceSettings(name: "H.265, HRD", encoder: .x265, parameters: "hrd=1:vbv-maxrate=2000:vbv-bufsize=1000"),
            .timing
        ),
        (
            SourceSettings(
                name: "H.265, B pictures",
                encoder: .x265,
                parameters: "bframes=1:b-adapt=0:rc-lookahead=5"
            ), .referencePictureSet
        ),
        (SourceSettings(name: "H.265, open GOP", encoder: .x265, parameters: "open-gop=1:keyint=15"), .unitType(21)),
    ]

    @Test("a stream that an inserted picture would break passes unchanged, with the reason", arguments: refused)
    func refusal(_ settings: SourceSettings, reason: RepeatRefusal) throws {
        let source = try SourceStream(settings)
        var stream = RepeatableStream(codec: source.codec)
        let sent = try source.accessUnits.map { try stream.live($0) }
        #expect(stream.admission == .refused(reason))
        let repeats = (stream.skip(), stream.resendKeyframe())
        #expect(repeats == (nil, nil))
        // Pictures sent before the refusal may have one more parameter set.
        let last = source.accessUnits.count - 1
        #expect(sent[last] == source.accessUnits[last])
        #expect(try PictureDecoder.libavcodec.hashes(of: sent, codec: source.codec).count == settings.pictures)
    }

    static let admitted = [
        SourceSettings(name: "H.264"), SourceSettings(name: "H.264, two slices", parameters: "slices=2"),
        SourceSettings(name: "H.265", encoder: .x265),
    ]

    @Test("nothing is repeated before a P picture has shown how the encoder refers", arguments: admitted)
    func undecided(_ settings: SourceSettings) throws {
        let source = try SourceStream(settings)
        var stream = RepeatableStream(codec: source.codec)
        for picture in [0, 1, 2] {
            _ = try stream.live(source.accessUnits[picture])
            let repeats = (stream.skip(), stream.resendKeyframe())
            #expect(stream.admission == .undecided && repeats == (nil, nil))
        }
        _ = try stream.live(source.accessUnits[3])
        #expect(stream.admission == .admitted)
    }

    @Test("without repeats live pictures stay unchanged, except for a parameter set in keyframes", arguments: admitted)
    func unchanged(_ settings: SourceSettings) throws {
        let source = try SourceStream(settings)
        var stream = RepeatableStream(codec: source.codec)
        for (number, unit) in source.accessUnits.enumerated() {
            let sent = try stream.live(unit)
            let types = AccessUnits.types(in: sent, codec: source.codec)
            if source.keyframes.contains(number) {
                #expect(types.count == AccessUnits.types(in: unit, codec: source.codec).count + 1)
            } else {
                #expect(sent == unit)
            }
        }
    }

    @Test(
        "a keyframe is sent again only after a skip picture, and not once a live picture has followed it",
        arguments: admitted
    )
    func resending(_ settings: SourceSettings) throws {
        let source = try SourceStream(settings)
        var stream = RepeatableStream(codec: source.codec)
        for picture in 2...8 { _ = try stream.live(source.accessUnits[picture]) }
        let keyframe = try stream.live(source.accessUnits[9])
        let tooEarly = stream.resendKeyframe()
        let skip = stream.skip()
        let resent = stream.resendKeyframe()
        let tooEarlyAgain = stream.resendKeyframe()
        let second = (stream.skip(), stream.resendKeyframe())
        #expect(tooEarly == nil && skip != nil && resent == keyframe && tooEarlyAgain == nil)
        // Numbers start again at the copy.
        #expect(second == (skip, keyframe))
        _ = try stream.live(source.accessUnits[10])
        _ = stream.skip()
        let late = stream.resendKeyframe()
        #expect(late == nil)
    }

    @Test(
        "a picture that cannot follow inserted ones is held back, and so is all up to the next keyframe",
        arguments: admitted
    )
    func heldBack(_ settings: SourceSettings) throws {
        let source = try SourceStream(settings)
        var stream = RepeatableStream(codec: source.codec)
        for picture in 12...14 { _ = try stream.live(source.accessUnits[picture]) }
        _ = stream.skip()
        // Number 15 is missing.
        for picture in [16, 17] {
            #expect(throws: RepeatRefusal.gap) { try live(source.accessUnits[picture], &stream) }
        }
        for picture in 30...33 {
            let sent = try stream.live(source.accessUnits[picture])
            #expect(sent == source.accessUnits[picture])
        }
        #expect(stream.admission == .refused(.gap))
    }

    private func live(_ unit: [UInt8], _ stream: inout RepeatableStream) throws -> [UInt8] {
        try stream.live(unit)
    }
}
