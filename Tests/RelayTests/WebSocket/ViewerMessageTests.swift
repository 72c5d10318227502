import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import Testing

@Suite("Messages of WebSockets")
struct ViewerMessageTests {
    @Test("what viewers say")
    func parsing() throws {
        #expect(try ViewerMessage(parsing: #"{"type":"keyframe"}"#) == .keyframe)
        #expect(try ViewerMessage(parsing: #"{"type":"ack","pts":5}"#) == .acknowledgement(5, presented: nil))
        #expect(
            try ViewerMessage(parsing: #"{"type":"ack","pts":7,"presented":9}"#) == .acknowledgement(7, presented: 9)
        )
        #expect(try ViewerMessage(parsing: #"{"type":"received","pts":8}"#) == .received(8))
        #expect(try ViewerMessage(parsing: #"{"type":"clock","id":"a","x":1}"#) == .clock("a"))
        let long = String(repeating: "a", count: 64)
        #expect(try ViewerMessage(parsing: #"{"type":"clock","id":"\#(long)"}"#) == .clock(.string(long)))
        #expect(throws: ViewerMessage.Malformed.self) {
            try ViewerMessage(parsing: #"{"type":"clock","id":"\#(long)a"}"#)
        }
        #expect(try ViewerMessage(parsing: #"{"type":"of a later release"}"#) == .unknown)
    }

    @Test(
        "what is none of it",
        arguments: [
            "", "x", "[]", "7", "{}", #"{"type":7}"#, #"{"type":"ack"}"#, #"{"type":"ack","pts":1.5}"#,
            #"{"type":"ack","pts":"1"}"#, #"{"type":"ack","pts":-1}"#, #"{"type":"ack","pts":-9223372036854775808}"#,
            #"{"type":"ack","pts":1,"presented":-1}"#,
            #"{"type":"ack","pts":1,"presented":"now"}"#, #"{"type":"ack","pts":1,"presented":1.5}"#,
            #"{"type":"received"}"#, #"{"type":"received","pts":-1}"#, #"{"type":"received","pts":"1"}"#,
            #"{"type":"clock"}"#, #"{"type":"clock","id":{}}"#,
        ]
    )
    func malformed(_ text: String) {
        #expect(throws: ViewerMessage.Malformed.self) { try ViewerMessage(parsing: text) }
    }

    @Test("a picture's head, byte by byte")
    func head() {
        var unit = SampleStream.accessUnit(0, key: false)
        unit.flags = [.repeat, .skip]
        unit.orientation = 3
        unit.captured = 0x0102_0304_0506_0708
        unit.encodeEnd = 0x1112_1314_1516_1718
        unit.pts = 33_333
        let head = UnitMessage.head(unit.header, relayed: 0x2122_2324_2526_2728)
        let expected: [UInt8] =
            [2, 6, 3, 0] + [0, 0, 0, 0, 0, 0, 0x82, 0x35] + Array(1...8) + Array(0x11...0x18) + Array(0x21...0x28)
        #expect(Array(head.readableBytesView) == expected)
        #expect(expected.count == UnitMessage.headByteCount)
        #expect(SampleStream.unit(unit).configuration == nil)
    }

    @Test("a configuration, byte by byte")
    func configuration() throws {
        var unit = SampleStream.accessUnit(0, key: true)
        unit.orientation = 1
        let configuration = try #require(StreamConfiguration(unit, codec: .h264))
        #expect(configuration.codec == "avc3.42C01F")
        let expected: [UInt8] =
            [1, 0, 1, 0] + [0, 0, 0x02, 0x80] + [0, 0, 0x01, 0x68] + [0, 11] + Array("avc3.42C01F".utf8)
            + SampleStream.parameterSets
        #expect(Array(configuration.message.readableBytesView) == expected)
    }

    /// Sequence parameter sets of x265, cut after the level, with the strings that FFmpeg's muxer and browsers use.
    @Test(
        "H.265's codec string",
        arguments: [
            (
                [0x01, 0x01, 0x60, 0, 0, 0x03, 0, 0x90, 0, 0, 0x03, 0, 0, 0x03, 0, 0x5D] as [UInt8],
                "hev1.1.6.L93.90"
            ),
            ([0x01, 0x22, 0x20, 0, 0, 0x03, 0, 0xB0, 0, 0, 0x03, 0, 0, 0x03, 0, 0x99], "hev1.2.4.H153.B0"),
        ]
    )
    func h265(_ bytes: [UInt8], _ string: String) throws {
        var unit = SampleStream.h265AccessUnit(0, key: true)
        unit.bytes = [0, 0, 0, 1, 0x42, 0x01] + bytes + [0x80] + SampleStream.h265Slice(0, key: true)
        #expect(StreamConfiguration(unit, codec: .h265)?.codec == string)
    }

    @Test("parameter sets that are cut off make no configuration")
    func cut() {
        var unit = SampleStream.h265AccessUnit(0, key: true)
        #expect(StreamConfiguration(unit, codec: .h265) == nil)
        unit = SampleStream.accessUnit(0, key: true)
        unit.bytes = [0, 0, 0, 1, 0x67, 0x42]
        #expect(StreamConfiguration(unit, codec: .h264) == nil)
    }
}
