import NIOCore
import NIOWebSocket
import Relay
import Testing

@Suite("The WebSocket protocol")
struct WebSocketMachineTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    private static func frame(
        _ opcode: WebSocketOpcode,
        _ payload: [UInt8] = [],
        fin: Bool = true,
        rsv1: Bool = false,
        masked: Bool = true
    ) -> WebSocketFrame {
        var data = ByteBuffer(bytes: payload)
        let key: WebSocketMaskingKey = [1, 2, 3, 4]
        if masked { data.webSocketMask(key) }
        return WebSocketFrame(fin: fin, rsv1: rsv1, opcode: opcode, maskKey: masked ? key : nil, data: data)
    }

    /// The code with which the machine closes; `nil` if it does not close.
    private static func code(_ actions: [WebSocketMachine.Action]) -> UInt16? {
        actions.compactMap { if case .close(let close) = $0 { close.code } else { nil } }.first
    }

    struct Breach: Sendable, CustomTestStringConvertible {
        let what: String
        let frames: [WebSocketFrame]
        let code: UInt16

        var testDescription: String { "\(what): \(code)" }
    }

    private static let breaches: [Breach] = [
        Breach(what: "unmasked", frames: [frame(.text, [65], masked: false)], code: 1002),
        Breach(what: "a reserved bit", frames: [frame(.text, [65], rsv1: true)], code: 1002),
        Breach(what: "a reserved opcode", frames: [frame(.init(encodedWebSocketOpcode: 3)!)], code: 1002),
        Breach(what: "a reserved control opcode", frames: [frame(.init(encodedWebSocketOpcode: 11)!)], code: 1002),
        Breach(what: "a continuation of nothing", frames: [frame(.continuation, [65])], code: 1002),
        Breach(
            what: "a message inside another",
            frames: [frame(.text, [65], fin: false), frame(.text, [66])],
            code: 1002
        ),
        Breach(what: "no UTF-8", frames: [frame(.text, [0xC3, 0x28])], code: 1007),
        Breach(
            what: "too long in fragments",
            frames: (0..<3).map {
                frame($0 == 0 ? .text : .continuation, [UInt8](repeating: 65, count: 2000), fin: false)
            },
            code: 1009
        ),
        Breach(what: "a Close of one byte", frames: [frame(.connectionClose, [3])], code: 1002),
        Breach(
            what: "a Close with a code that is never sent",
            frames: [frame(.connectionClose, [3, 0xEE])],
            code: 1002
        ),
        Breach(
            what: "a Close whose reason is not UTF-8",
            frames: [frame(.connectionClose, [3, 0xE8, 0xFF])],
            code: 1007
        ),
    ]

    @Test("closes on what breaks it, and hears nothing more", arguments: breaches)
    func breach(_ breach: Breach) {
        var machine = WebSocketMachine(now: Self.start)
        let actions = breach.frames.flatMap { machine.received($0, now: Self.start) }
        #expect(Self.code(actions) == breach.code)
        #expect(!machine.isOpen)
        let later = machine.received(Self.frame(.text, [65]), now: Self.start)
        #expect(later == [])
    }

    @Test("errors of the frame decoder have their codes")
    func decoderErrors() {
        for (error, code) in [
            (NIOWebSocketError.invalidFrameLength, UInt16(1009)), (.fragmentedControlFrame, 1002),
            (.multiByteControlFrameLength, 1002),
        ] {
            var machine = WebSocketMachine(now: Self.start)
            let actions = machine.received(error, now: Self.start)
            #expect(Self.code(actions) == code)
        }
    }

    @Test("puts fragments together, with control frames between them")
    func fragments() {
        var machine = WebSocketMachine(now: Self.start)
        let frames = [
            Self.frame(.text, [65], fin: false), Self.frame(.ping, [7]), Self.frame(.continuation, [66], fin: false),
            Self.frame(.continuation, [67]), Self.frame(.text, [68]),
        ]
        let actions = frames.flatMap { machine.received($0, now: Self.start) }
        #expect(actions == [.pong([7]), .message("ABC"), .message("D")])
    }

    @Test("passes binary messages on, also in fragments")
    func binary() {
        var machine = WebSocketMachine(now: Self.start)
        let frames = [
            Self.frame(.binary, [0xFF, 1]), Self.frame(.binary, [2], fin: false), Self.frame(.continuation, [3]),
            Self.frame(.text, [65]),
        ]
        let actions = frames.flatMap { machine.received($0, now: Self.start) }
        #expect(actions == [.input([0xFF, 1]), .input([2, 3]), .message("A")])
    }

    @Test("a message may have 4096 bytes")
    func longestMessage() {
        var machine = WebSocketMachine(now: Self.start)
        let actions = machine.received(Self.frame(.text, [UInt8](repeating: 65, count: 4096)), now: Self.start)
        #expect(actions == [.message(String(repeating: "A", count: 4096))])
    }

    @Test("answers a Close with its code and ends; one that it sent itself is not answered")
    func closing() {
        var machine = WebSocketMachine(now: Self.start)
        var actions = machine.received(Self.frame(.connectionClose, [0x0F, 0xA0]), now: Self.start)
        #expect(actions == [.close(WebSocketClose(.unknown(4000))), .finish])
        machine = WebSocketMachine(now: Self.start)
        actions = machine.close(WebSocketClose(.goingAway, "over"), now: Self.start)
        #expect(actions == [.close(WebSocketClose(.goingAway, "over"))])
        actions = machine.close(WebSocketClose(.goingAway, "again"), now: Self.start)
        #expect(actions == [])
        actions = machine.received(Self.frame(.connectionClose, [3, 0xE9]), now: Self.start)
        #expect(actions == [.finish])
    }

    @Test("does not wait for ever for the answer to its Close")
    func lingering() {
        var machine = WebSocketMachine(now: Self.start)
        _ = machine.close(WebSocketClose(.goingAway), now: Self.start)
        var actions = machine.tick(now: Self.start + .milliseconds(999))
        #expect(actions == [])
        actions = machine.tick(now: Self.start + .seconds(1))
        #expect(actions == [.drop])
        actions = machine.tick(now: Self.start + .seconds(9))
        #expect(actions == [])
    }

    @Test("pings every 5 s; a peer that answers stays")
    func answeredPings() throws {
        var machine = WebSocketMachine(now: Self.start)
        for second in 1...60 {
            let now = Self.start + .seconds(Int64(second))
            let actions = machine.tick(now: now)
            #expect(actions.count == (second % 5 == 0 ? 1 : 0))
            for case .ping(let payload) in actions {
                let answer = machine.received(Self.frame(.pong, payload), now: now)
                #expect(answer == [])
            }
        }
        #expect(machine.isOpen)
    }

    @Test("drops a peer 15 s after its last answer, whatever else it sends")
    func unansweredPings() {
        var machine = WebSocketMachine(now: Self.start)
        for second in 1...14 {
            let now = Self.start + .seconds(Int64(second))
            _ = machine.tick(now: now)
            // Unsolicited pongs, and messages, do not count as answers.
            _ = machine.received(Self.frame(.pong, [0, 0, 0, 0, 0, 0, 0, 0]), now: now)
            _ = machine.received(Self.frame(.text, [65]), now: now)
            #expect(machine.isOpen)
        }
        let actions = machine.tick(now: Self.start + .seconds(15))
        #expect(actions == [.drop])
    }

    @Test("a flood ends the connection; a steady flow does not")
    func flood() {
        var machine = WebSocketMachine(now: Self.start)
        for place in 0..<1000 {
            let actions = machine.received(Self.frame(.text, [65]), now: Self.start)
            #expect(actions == [.message("A")], "frame \(place)")
        }
        let actions = machine.received(Self.frame(.text, [65]), now: Self.start)
        #expect(Self.code(actions) == 1008)
        machine = WebSocketMachine(now: Self.start)
        for place in 0..<10_000 {
            _ = machine.received(Self.frame(.text, [65]), now: Self.start + .milliseconds(Int64(place) * 2))
        }
        #expect(machine.isOpen)
    }
}
