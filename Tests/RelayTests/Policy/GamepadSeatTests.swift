import HeliographAPI
import NIOCore
import Relay
import Testing
import Wire

@Suite("A device's gamepad")
struct GamepadSeatTests {
    private static let pressed = GamepadState(buttons: .south)

    private func connected() -> GamepadSeat {
        var seat = GamepadSeat()
        _ = seat.connect(.xbox, on: .primary, now: at(0))
        return seat
    }

    @Test("is made with a new number, and ended before another one is made")
    func connects() {
        var seat = GamepadSeat()
        #expect(seat.connect(nil, on: .primary, now: at(0)) == [.send(GamepadOrder(id: 1, .connect(nil)), .primary)])
        #expect(
            seat.connect(.dualsense, on: .primary, now: at(1)) == [
                .send(GamepadOrder(id: 1, .disconnect), .primary),
                .send(GamepadOrder(id: 2, .connect(.dualsense)), .primary),
            ]
        )
        #expect(seat.disconnect() == [.send(GamepadOrder(id: 2, .disconnect), .primary)])
        #expect(seat.disconnect().isEmpty && seat.show(Self.pressed, now: at(2)).isEmpty && seat.state == nil)
    }

    @Test("sends 250 states a second at most, the newest one each time, and the last one always")
    func rate() {
        var seat = connected()
        var sent: [GamepadState] = []
        func take(_ actions: [GamepadSeat.Action]) {
            for case .send(let order, .primary) in actions {
                if order.id == 1, case .state(let state) = order.action { sent.append(state) }
            }
        }
        for step in 0..<1000 {
            let now = at(Int64(step))
            if let deadline = seat.deadline, deadline <= now { take(seat.tick(now: now)) }
            take(seat.show(GamepadState(leftTrigger: UInt8(step % 256)), now: now))
        }
        #expect(sent.count == 250)
        let deadline = seat.deadline
        #expect(deadline != nil)
        take(seat.tick(now: deadline ?? at(0)))
        #expect(sent.last == GamepadState(leftTrigger: UInt8(999 % 256)) && seat.deadline == nil)
    }

    @Test("moves to the agent that feeds, where nothing is pressed")
    func feedSwitch() {
        var seat = connected()
        _ = seat.show(Self.pressed, now: at(0))
        _ = seat.show(GamepadState(buttons: .east), now: at(1))
        #expect(
            seat.feeds(.standby, now: at(2)) == [
                .send(GamepadOrder(id: 1, .disconnect), .primary),
                .send(GamepadOrder(id: 2, .connect(.xbox)), .standby),
            ]
        )
        #expect(seat.state == .neutral && seat.deadline == nil && seat.tick(now: at(100)).isEmpty)
        #expect(seat.feeds(.standby, now: at(3)).isEmpty)
    }

    @Test("waits for an agent, and keeps no clock meanwhile")
    func noAgent() {
        var seat = GamepadSeat()
        #expect(seat.connect(.xbox, on: nil, now: at(0)).isEmpty)
        #expect(seat.show(Self.pressed, now: at(1)).isEmpty && seat.deadline == nil)
        #expect(seat.feeds(.primary, now: at(2)).count == 1)
        #expect(seat.lost(.standby).isEmpty)
        guard case .tell(let event)? = seat.lost(.primary).first else {
            Issue.record("nobody is told")
            return
        }
        #expect(event.type == nil && event.detail != nil)
        #expect(seat.show(Self.pressed, now: at(3)).isEmpty && seat.deadline == nil)
        #expect(seat.feeds(.primary, now: at(4)) == [.send(GamepadOrder(id: 2, .connect(.xbox)), .primary)])
    }

    @Test("reports only of its own agent and number count, and only feedback of a gamepad that exists")
    func reports() {
        var seat = connected()
        let feedback = GamepadFeedback(strong: 3)
        #expect(seat.received(GamepadReport(id: 1, .feedback(feedback)), from: .primary, now: at(0)) == nil)
        #expect(seat.received(GamepadReport(id: 1, .connected(.xbox)), from: .standby, now: at(0)) == nil)
        #expect(seat.received(GamepadReport(id: 2, .connected(.xbox)), from: .primary, now: at(0)) == nil)
        #expect(
            seat.received(GamepadReport(id: 1, .connected(.xbox)), from: .primary, now: at(0))
                == [.tell(GamepadEvent(type: .xbox))]
        )
        #expect(
            seat.received(GamepadReport(id: 1, .feedback(feedback)), from: .primary, now: at(0))
                == [.tell(GamepadEvent(type: .xbox, feedback: feedback))]
        )
        #expect(
            seat.received(GamepadReport(id: 1, .failed("gone")), from: .primary, now: at(0))
                == [.tell(GamepadEvent(detail: "gone"))]
        )
    }

    @Test("a flood of reports is refused, and counts again later")
    func flood() {
        var seat = connected()
        let report = GamepadReport(id: 1, .connected(.xbox))
        let accepted = (0..<1000).count { _ in seat.received(report, from: .primary, now: at(0)) != nil }
        #expect(accepted == 400)
        #expect(seat.received(report, from: .primary, now: at(1000)) != nil)
    }
}

@Suite("A viewer's gamepad messages")
struct GamepadMessageTests {
    private static let state = GamepadState(
        buttons: [.south, .mute],
        leftStick: GamepadState.Stick(x: -32768, y: 1),
        rightTrigger: 7,
        secondTouch: GamepadState.Touch(id: 127, x: 1919, y: 1079),
        turn: GamepadState.Vector(x: 1, y: -2, z: 3)
    )

    @Test(
        "are read as they are written",
        arguments: [.connect(nil), .connect(.xbox), .connect(.dualsense), .state(state), .disconnect]
            as [GamepadMessage]
    )
    func roundTrip(message: GamepadMessage) throws {
        #expect(try ViewerInput(parsing: message.bytes) == .gamepad(message))
    }

    @Test("without their fields, with more of them or with values out of range are malformed")
    func malformed() {
        let state = GamepadMessage.state(Self.state).bytes
        var bad: [[UInt8]] = [
            [0x10], [0x10, 3, 0, 0], [0x12, 0, 0], [0x12, 0, 0, 0, 0], Array(state.dropLast()), state + [0],
        ]
        // Touches beyond the touchpad, and a finger with a number of 8 bits.
        for (place, byte) in [(24, UInt8(0x08)), (26, 0x05), (23, 0x80)] {
            var message = state
            message[place] = byte
            bad.append(message)
        }
        for message in bad {
            #expect(throws: ViewerInput.Malformed.self, "\(message)") { try ViewerInput(parsing: message) }
        }
    }

    @Test("of later releases are unknown; unknown buttons are ignored")
    func later() throws {
        for kind in UInt8(0x13)...0x1F { #expect(try ViewerInput(parsing: [kind, 1, 2]) == .unknown(kind)) }
        var bytes = GamepadMessage.state(.neutral).bytes
        bytes[4] = 0xFF
        bytes[5] = 0xF0
        #expect(try ViewerInput(parsing: bytes) == .gamepad(.state(.neutral)))
    }
}
