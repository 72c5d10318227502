import HeliographClient
import Relay
import Testing
import Wire

@Suite("Input that a program sends")
struct InputTests {
    private static let place = Input.Place(x: 10.5, y: -1, geometry: 0x0102_0304)
    private static let there = ViewerInput.Place(geometry: 0x0102_0304, x: 10.5, y: -1)

    @Test(
        "is what the relay reads",
        arguments: [
            (.move(place), [.move(there)]), (.motion(dx: 1.25, dy: -2), [.motion(dx: 1.25, dy: -2)]),
            (.button(.left, isDown: true, at: place), [.button(0x110, isDown: true, at: there)]),
            (.button(.middle, isDown: false), [.button(0x112, isDown: false, at: nil)]),
            (.button(.right, isDown: true), [.button(0x111, isDown: true, at: nil)]),
            (.button(.forward, isDown: true), [.button(0x114, isDown: true, at: nil)]),
            (.scroll(dx: 0, dy: 120, at: place), [.scroll(dx: 0, dy: 120, at: there)]),
            (
                .touch([Input.Contact(id: 9, phase: .cancel, x: 3, y: 4)], geometry: 9),
                [.touch([.init(id: 9, phase: .cancel, x: 3, y: 4)], geometry: 9)]
            ),
            (.key(keysym: 0x0100_20AC, isDown: true), [.key(keysym: 0x0100_20AC, isDown: true)]),
            (.text("é\n"), [.text("é\n")]), (.text(""), []), (.releaseAll, [.release]),
        ] as [(Input, [ViewerInput])]
    )
    func read(_ input: Input, _ expected: [ViewerInput]) throws {
        #expect(try input.messages.map { try ViewerInput(parsing: $0) } == expected)
    }

    @Test(
        "is refused before it is sent if the relay would not understand it",
        arguments: [
            .touch([]), .touch([Input.Contact(id: 10, phase: .down, x: 0, y: 0)]),
            .touch([Input.Contact](repeating: Input.Contact(id: 1, phase: .down, x: 0, y: 0), count: 2)),
            .key(keysym: 0, isDown: true), .button(.left, isDown: true, at: Input.Place(x: 1, y: 1, geometry: 0)),
            .scroll(dx: 1, dy: 0, at: Input.Place(x: 1, y: 1, geometry: 0)),
        ] as [Input]
    )
    func faults(_ input: Input) { #expect(input.fault != nil) }

    @Test("is control, and the sign that the program is there")
    func control() throws {
        #expect(try ViewerInput(parsing: Input.claim(takes: true)) == .claim(takes: true))
        #expect(try ViewerInput(parsing: Input.claim(takes: false)) == .claim(takes: false))
        #expect(try ViewerInput(parsing: Input.leaving) == .leave)
        #expect(try ViewerInput(parsing: Input.beat) == .beat)
    }

    @Test("is cut between characters if a text is long")
    func longText() throws {
        let text = String(repeating: "aé漢🙂", count: 2000)
        let inputs = try Input.text(text).messages.map { try ViewerInput(parsing: $0) }
        let pieces = inputs.map { if case .text(let piece) = $0 { piece } else { "" } }
        #expect(pieces.count == 5 && pieces.joined() == text)
    }

    @Test("has places that fit, whatever the numbers", arguments: [.infinity, -.infinity, .nan, 1e300, -1e300])
    func places(_ number: Double) throws {
        let messages = Input.move(Input.Place(x: number, y: number, geometry: 1)).messages
        #expect(throws: Never.self) { try messages.map { try ViewerInput(parsing: $0) } }
    }
}
