import HeliographClient
import Testing
import Viewer

@Suite("Fingers on this machine's screen")
struct FingerTests {
    private let place = Input.Place(x: 3, y: 4, geometry: 7)

    @Test("are ten contacts at most, and each takes the least number that is free")
    func numbers() {
        var fingers = Fingers()
        for number in 0..<10 {
            #expect(fingers.contact(Int64(100 + number), .down, at: place)?.id == UInt8(number))
        }
        #expect(fingers.contact(110, .down, at: place) == nil)
        #expect(fingers.contact(110, .move, at: place) == nil)
        #expect(fingers.contact(104, .up, at: place) == Input.Contact(id: 4, phase: .up, x: 3, y: 4))
        #expect(fingers.contact(104, .move, at: place) == nil && fingers.contact(104, .up, at: place) == nil)
        #expect(fingers.contact(110, .down, at: place)?.id == 4)
        #expect(fingers.contact(105, .move, at: place) == Input.Contact(id: 5, phase: .move, x: 3, y: 4))
    }

    @Test("keep their number if they go down twice")
    func twice() {
        var fingers = Fingers()
        #expect(fingers.contact(1, .down, at: place)?.id == 0)
        #expect(fingers.contact(1, .down, at: place)?.id == 0)
        #expect(fingers.contact(2, .down, at: place)?.id == 1)
    }
}
