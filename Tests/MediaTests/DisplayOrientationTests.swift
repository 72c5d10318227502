import Media
import Testing

@Suite("Display orientation")
struct DisplayOrientationTests {
    @Test("the message stands before the first slice, with the standard's bits")
    func message() {
        let sets: [UInt8] = [0, 0, 0, 1, 0x67, 1, 0, 0, 0, 1, 0x68, 2]
        let slice: [UInt8] = [0, 0, 0, 1, 0x65, 3]
        let expected: [UInt8: [UInt8]] = [
            1: [0x18, 0x00, 0x09], 2: [0x10, 0x00, 0x09], 3: [0x08, 0x00, 0x09],
        ]
        for (orientation, payload) in expected {
            let message: [UInt8] = [0, 0, 0, 1, 0x06, 47, 3] + payload + [0x80]
            #expect(DisplayOrientation.added(orientation, to: sets + slice, codec: .h264) == sets + message + slice)
            #expect(DisplayOrientation.added(orientation, to: slice, codec: .h264) == message + slice)
        }
    }

    @Test("in H.265 it is a prefix message")
    func h265() {
        let set: [UInt8] = [0, 0, 0, 1, 0x40, 1, 7]
        let slice: [UInt8] = [0, 0, 0, 1, 0x26, 1, 3]
        let message: [UInt8] = [0, 0, 0, 1, 0x4E, 0x01, 47, 3, 0x18, 0x00, 0x18, 0x80]
        #expect(DisplayOrientation.added(1, to: set + slice, codec: .h265) == set + message + slice)
    }

    @Test("upright pictures, and bytes without a slice, stay as they are")
    func untouched() {
        let slice: [UInt8] = [0, 0, 1, 0x65, 3]
        #expect(DisplayOrientation.added(0, to: slice, codec: .h264) == slice)
        for bytes: [UInt8] in [[], [1, 2, 3], [0, 0, 1], [0, 0, 1, 0x67, 1]] {
            #expect(DisplayOrientation.added(1, to: bytes, codec: .h264) == bytes)
        }
    }
}
