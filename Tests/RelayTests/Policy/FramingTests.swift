import HeliographAPI
import Media
import NIOCore
import Relay
import RelayTestSupport
import Testing

@Suite("Framing")
struct FramingTests {
    private func bytes(_ accessUnit: AccessUnit, _ framing: Framing, codec: Codec = .h264) -> [UInt8] {
        switch framing {
        case .annexB: Array(SampleStream.rendered(SampleStream.unit(accessUnit, codec: codec)).bytes.readableBytesView)
        case .scrcpy: SampleStream.scrcpyPackets(accessUnit, codec: codec)
        }
    }

    @Test("annexb leaves the access unit as it is")
    func annexBLeavesBytesAlone() {
        let unit = SampleStream.accessUnit(1, key: true)
        #expect(bytes(unit, .annexB) == unit.bytes)
    }

    @Test("scrcpy sends a keyframe's parameter sets ahead as configuration")
    func scrcpySendsConfiguration() {
        let unit = SampleStream.accessUnit(2, key: true, size: 3)
        let slice = SampleStream.slice(2, key: true, size: 3)
        let expected: [UInt8] =
            [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16] + SampleStream.parameterSets
            + [0x40, 0, 0, 0, 0, 1, 0x04, 0x6A, 0, 0, 0, UInt8(slice.count)] + slice
        #expect(bytes(unit, .scrcpy) == expected)
    }

    @Test("scrcpy sends other pictures with their PTS alone")
    func scrcpySendsPictures() {
        let unit = SampleStream.accessUnit(3, key: false, size: 1)
        #expect(bytes(unit, .scrcpy) == [0, 0, 0, 0, 0, 1, 0x86, 0x9F, 0, 0, 0, 9] + unit.bytes)
    }

    @Test("scrcpy leaves out parameter sets wherever they stand before the slice")
    func scrcpyFindsParameterSetsBehindAnything() {
        var unit = SampleStream.accessUnit(4, key: true, size: 1)
        let delimiter: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0]
        unit.bytes = delimiter + unit.bytes
        let sent = bytes(unit, .scrcpy)
        #expect(Array(sent[12..<28]) == SampleStream.parameterSets)
        #expect(Array(sent[40...]) == delimiter + SampleStream.slice(4, key: true, size: 1))
    }

    @Test("scrcpy sends VPS, SPS and PPS of an H.265 keyframe ahead as configuration, and nothing else of it")
    func scrcpySendsConfigurationOfH265() {
        let sent = bytes(SampleStream.h265AccessUnit(2, key: true), .scrcpy, codec: .h265)
        let slice = SampleStream.h265Slice(2, key: true)
        let expected: [UInt8] =
            [0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 21] + SampleStream.h265ParameterSets
            + [0x40, 0, 0, 0, 0, 1, 0x04, 0x6A, 0, 0, 0, UInt8(slice.count)] + slice
        #expect(sent == expected)
    }

    @Test(
        "has the names that users know",
        arguments: [
            ("annexb", Framing.annexB), ("Annex-B", .annexB), ("RAW", .annexB),
            ("scrcpy", .scrcpy), ("packet", .scrcpy), ("Packetized", .scrcpy),
        ]
    )
    func hasNames(name: String, framing: Framing) throws {
        let request = try SessionRequest(reading: [.init(name: "framing", value: .string(name))])
        #expect(request.framing == framing)
    }
}
