import Relay
import RelayTestSupport
import Testing
import Wire

@Suite("A viewer's binary messages")
struct ViewerInputTests {
    private static let place: [UInt8] = [1, 2, 3, 4] + [0, 10, 0x80, 0] + [0xFF, 0xFF, 0, 0]
    private static let there = ViewerInput.Place(geometry: 0x0102_0304, x: 10.5, y: -1)
    private static let nowhere = [UInt8](repeating: 0, count: 12)

    @Test(
        "byte by byte",
        arguments: [
            ([1, 0, 0, 0], .leave), ([1, 1, 0, 0], .claim(takes: false)), ([1, 2, 0, 0], .claim(takes: true)),
            ([2, 0, 0, 0], .beat), ([3, 0, 0, 0] + place, .move(there)),
            ([4, 0, 0, 0, 0, 1, 0x40, 0, 0xFF, 0xFE, 0, 0], .motion(dx: 1.25, dy: -2)),
            ([5, 0, 1, 0] + place, .button(0x110, isDown: true, at: there)),
            ([5, 1, 0, 0] + place, .button(0x112, isDown: false, at: there)),
            ([5, 2, 1, 0] + nowhere, .button(0x111, isDown: true, at: nil)),
            ([5, 4, 1, 0] + nowhere, .button(0x114, isDown: true, at: nil)),
            ([6, 0, 0, 0] + place + [0, 0, 0, 0, 0, 120, 0, 0], .scroll(dx: 0, dy: 120, at: there)),
            (
                [7, 2, 0, 0, 0, 0, 0, 9, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 9, 4, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0],
                .touch(
                    [.init(id: 0, phase: .down, x: 1, y: 2), .init(id: 9, phase: .cancel, x: 3, y: 4)],
                    geometry: 9
                )
            ),
            ([8, 1, 0, 0, 1, 0, 0x20, 0xAC], .key(keysym: 0x0100_20AC, isDown: true)),
            ([9, 0, 0, 0] + Array("é\n".utf8), .text("é\n")), ([10, 0, 0, 0], .release), ([11], .unknown(11)),
            ([255, 1], .unknown(255)), ([32, 0, 0, 0], .speech([])),
            ([32, 0, 0, 0, 0xFC, 0xFF, 0xFE], .speech([0xFC, 0xFF, 0xFE])),
        ] as [([UInt8], ViewerInput)]
    )
    func parsed(_ bytes: [UInt8], _ expected: ViewerInput) throws {
        #expect(try ViewerInput(parsing: bytes) == expected)
    }

    @Test(
        "are refused if their fields do not fit",
        arguments: [
            [], [1], [1, 3, 0, 0], [2, 0, 0], [2, 0, 0, 0, 0], [3, 0, 0, 0], [3, 0, 0, 0] + place + [0],
            [5, 5, 1, 0] + place, [5, 0, 2, 0] + place, [6, 0, 0, 0] + place,
            // No contact, eleven contacts, an id of 10, no such phase, the same id twice.
            [7, 0, 0, 0, 0, 0, 0, 0], [7, 11, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 132),
            [7, 1, 0, 0, 0, 0, 0, 0, 10, 1, 0, 0] + [UInt8](repeating: 0, count: 8),
            [7, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0] + [UInt8](repeating: 0, count: 8),
            [7, 2, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 1, count: 24), [8, 1, 0, 0, 0, 0, 0, 0],
            [8, 2, 0, 0, 0, 0, 0, 65], [9, 0, 0, 0], [9, 0, 0, 0, 0xFF],
            [9, 0, 0, 0] + [UInt8](repeating: 65, count: 4093), [10, 0, 0, 0, 1],
            // A packet without frames, and one that is too long.
            [32, 0, 0], [32, 0, 0, 0, 0xFF, 0], [32, 0, 0, 0] + [UInt8](repeating: 0xFC, count: 2049),
        ] as [[UInt8]]
    )
    func malformed(_ bytes: [UInt8]) {
        #expect(throws: ViewerInput.Malformed.self) { try ViewerInput(parsing: bytes) }
    }

    @Test("the longest text fills a message")
    func longest() throws {
        let bytes: [UInt8] = [9, 0, 0, 0] + [UInt8](repeating: 65, count: ViewerInput.longestText)
        #expect(bytes.count == 4096)
        #expect(try ViewerInput(parsing: bytes) == .text(String(repeating: "A", count: 4092)))
    }
}
