import Media
import Packaging
import TestSupport
import Testing

@Suite("Pictures with lengths in place of start codes")
struct LengthPrefixedPictureTests {
    @Test("each NAL unit stands after its length, without start codes and padding")
    func lengths() {
        let unit: [UInt8] = [0, 0, 0, 1, 0x67, 1, 2, 0, 0, 1, 0x65, 9, 8, 7, 0, 0]
        #expect(LengthPrefixedPicture.bytes(of: unit) == [0, 0, 0, 3, 0x67, 1, 2, 0, 0, 0, 4, 0x65, 9, 8, 7])
        #expect(LengthPrefixedPicture.bytes(of: []).isEmpty && LengthPrefixedPicture.bytes(of: [1, 2, 3]).isEmpty)
    }

    /// Written by hand from ISO/IEC 14496-15, 5.3.3.1.
    @Test("the record of parameter sets is what the standard says, byte for byte")
    func record() throws {
        let sets = Sample.accessUnit(Sample.setsH264).bytes
        let record = try LengthPrefixedPicture.configuration(of: sets, codec: .h264)
        #expect(
            record
                == [UInt8](
                    hex: "01 42 c0 28 ff e1 0010 \(Sample.sequenceH264.hex) 02 0004 68ce3c80 0004 685b8f20"
                )
        )
    }

    @Test("damaged parameter sets are refused")
    func damaged() {
        #expect(throws: PackagingError.self) {
            try LengthPrefixedPicture.configuration(of: [0, 0, 1, 0x67, 1], codec: .h264)
        }
    }
}
