import CaptureAgent
import Media
import Testing

@Suite("Parameter sets in the stream")
struct InBandParameterSetsTests {
    /// Returns an H.264 unit of `type` with a start code.
    private static func h264(_ type: UInt8, _ payload: UInt8 = 0x80) -> [UInt8] { [0, 0, 0, 1, 0x60 | type, payload] }
    /// Returns the same for H.265.
    private static func h265(_ type: UInt8) -> [UInt8] { [0, 0, 0, 1, type << 1, 1, 0x80] }

    @Test("stay where they are when every keyframe has them")
    func present() {
        var sets = InBandParameterSets(codec: .h264, header: [])
        let keyframe = Self.h264(7) + Self.h264(8) + Self.h264(5)
        let first = sets.take(keyframe)
        #expect(first == .picture(bytes: keyframe, isKeyframe: true))
        let second = sets.take(Self.h264(1))
        #expect(second == .picture(bytes: Self.h264(1), isKeyframe: false))
    }

    @Test("of the first keyframe are put before the later ones")
    func onlyOnce() {
        var sets = InBandParameterSets(codec: .h264, header: [])
        _ = sets.take(Self.h264(7) + Self.h264(8) + Self.h264(5))
        let later = sets.take(Self.h264(5))
        #expect(later == .picture(bytes: Self.h264(7) + Self.h264(8) + Self.h264(5), isKeyframe: true))
    }

    @Test("given beside the stream, or ahead of the first picture, are put before keyframes", arguments: [true, false])
    func beside(isBeside: Bool) {
        let header = Self.h265(32) + Self.h265(33) + Self.h265(34)
        var sets = InBandParameterSets(codec: .h265, header: isBeside ? header : [])
        if !isBeside {
            let piece = sets.take(header)
            #expect(piece == .header)
        }
        for type in [UInt8(19), 20] {
            let keyframe = sets.take(Self.h265(type))
            #expect(keyframe == .picture(bytes: header + Self.h265(type), isKeyframe: true))
        }
        // A clean random access picture (21) is not a keyframe, because pictures after it may need earlier ones.
        let clean = sets.take(Self.h265(21))
        #expect(clean == .picture(bytes: Self.h265(21), isKeyframe: false))
    }

    @Test("that changed replace the old ones")
    func changed() {
        var sets = InBandParameterSets(codec: .h264, header: Self.h264(7, 1) + Self.h264(8, 1))
        _ = sets.take(Self.h264(7, 2) + Self.h264(8, 2) + Self.h264(5))
        let later = sets.take(Self.h264(5))
        #expect(later == .picture(bytes: Self.h264(7, 2) + Self.h264(8, 2) + Self.h264(5), isKeyframe: true))
    }

    @Test("are ignored in output of another form", arguments: [[], [0, 0, 0, 6, 0x65, 0x80], [1, 2, 3]])
    func notAnnexB(bytes: [UInt8]) {
        var sets = InBandParameterSets(codec: .h264, header: [])
        let piece = sets.take(bytes)
        #expect(piece == .notAnnexB)
    }
}
