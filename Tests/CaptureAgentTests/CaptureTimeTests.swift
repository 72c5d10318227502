import CaptureAgent
import Testing

@Suite("Capture time")
struct CaptureTimeTests {
    private static let arrival: UInt64 = 50_000_000_000

    @Test("a stamp of less than a second ago is believed", arguments: [0, 1, 38_000_000, 999_999_999])
    func believed(age: Int64) {
        let stamp = Int64(Self.arrival) - age
        #expect(CaptureTime.of(stamp: stamp, arrival: Self.arrival) == UInt64(stamp))
    }

    @Test(
        "a stamp that is missing, old, of the future or no time at all gives way to the arrival",
        arguments: [nil, 0, -1, Int64.min, 1, 49_000_000_000, 50_000_000_001, Int64.max]
    )
    func notBelieved(stamp: Int64?) {
        #expect(CaptureTime.of(stamp: stamp, arrival: Self.arrival) == Self.arrival)
    }

    @Test("a stamp right after the machine has started is believed")
    func young() {
        #expect(CaptureTime.of(stamp: 5, arrival: 10) == 5)
    }
}
