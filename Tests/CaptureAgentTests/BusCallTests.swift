import CaptureAgent
import Testing

@Suite("Calls by bytes")
struct BusCallTests {
    @Test("are the messages of the D-Bus specification")
    func bytes() {
        // Each line is a multiple of 8 bytes: the fixed part, then a field of the header, then the body.
        let expected: [[UInt8]] = [
            Array("l".utf8) + [1, 1, 1, 4, 0, 0, 0, 255, 255, 255, 255, 79, 0, 0, 0],
            [1, 1] + Array("o".utf8) + [0, 2, 0, 0, 0] + Array("/a".utf8) + [0, 0, 0, 0, 0, 0],
            [6, 1] + Array("s".utf8) + [0, 7, 0, 0, 0] + Array("org.b.C".utf8) + [0],
            [2, 1] + Array("s".utf8) + [0, 9, 0, 0, 0] + Array("org.b.C.D".utf8) + [0, 0, 0, 0, 0, 0, 0],
            [3, 1] + Array("s".utf8) + [0, 2, 0, 0, 0] + Array("Up".utf8) + [0, 0, 0, 0, 0, 0],
            [8, 1] + Array("g".utf8) + [0, 1] + Array("u".utf8) + [0, 0],
            [4, 3, 2, 1],
        ]
        let call = BusCall(
            path: "/a",
            destination: "org.b.C",
            interface: "org.b.C.D",
            member: "Up",
            argument: 0x0102_0304
        )
        #expect(call.bytes == expected.flatMap { $0 })
    }
}
