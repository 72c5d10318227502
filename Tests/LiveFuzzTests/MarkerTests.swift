import LiveFuzzing
import Media
import Testing

@Suite("The number of an access unit")
struct MarkerTests {
    @Test("is found in a byte stream", arguments: Codec.allCases)
    func whole(_ codec: Codec) {
        let stream: [UInt8] = [0, 0, 0, 1, 0x67, 0x42] + Marker.unit(999, codec: codec)
        #expect(Marker.find(in: stream)?.number == 999)
    }

    /// In a byte stream, nothing else shows that it is cut.
    @Test("is not found when its unit is cut in it, and the next unit's is", arguments: Codec.allCases)
    func cut(_ codec: Codec) {
        let unit = Marker.unit(999, codec: codec)
        let next = Marker.unit(1000, codec: codec)
        // The last byte comes after the number.
        for cut in 2...(unit.count - 1) {
            let stream = Array(unit.dropLast(cut)) + next
            #expect(Marker.find(in: stream)?.number == 1000, "\(cut) bytes are missing")
        }
    }
}
