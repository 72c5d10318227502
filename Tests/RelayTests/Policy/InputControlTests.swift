import NIOCore
import Relay
import Testing
import Wire

@Suite("One caller controls a device")
struct InputControlTests {
    private static let start = NIODeadline.now()
    private static let (one, other) = (InputControl.Caller.key("one"), InputControl.Caller.local)

    /// A control that a test drives at times in ms.
    private final class Device {
        var control = InputControl()

        static func at(_ time: Int64) -> NIODeadline { start + .milliseconds(time) }

        func claim(_ caller: InputControl.Caller, at time: Int64, takes: Bool = false) -> InputControl.Claim {
            control.claim(by: caller, takes: takes, now: Self.at(time))
        }

        func end(_ caller: InputControl.Caller, at time: Int64) { control.end(of: caller, now: Self.at(time)) }
        func lapses(at time: Int64) -> Bool { control.lapse(now: Self.at(time)) }
        func stay(_ caller: InputControl.Caller) { control.stay(caller) }
        func leave(_ caller: InputControl.Caller) { control.leave(caller) }
    }

    @Test("until 5 s after its last call")
    func idle() {
        let device = Device()
        #expect(device.claim(Self.one, at: 0) == .granted(former: nil))
        #expect(device.claim(Self.other, at: 60_000) == .refused(by: Self.one), "its call is under way")
        device.end(Self.one, at: 61_000)
        #expect(!device.lapses(at: 65_999))
        #expect(device.claim(Self.other, at: 65_999) == .refused(by: Self.one))
        #expect(device.claim(Self.one, at: 65_999) == .granted(former: nil))
        device.end(Self.one, at: 66_000)
        #expect(device.lapses(at: 71_000))
        #expect(device.control.holder == nil)
        #expect(!device.lapses(at: 71_000), "it has lapsed before")
        #expect(device.claim(Self.other, at: 71_000) == .granted(former: nil))
    }

    @Test("or, by hand, until another caller wants it after that")
    func stays() {
        let device = Device()
        _ = device.claim(Self.one, at: 0)
        device.stay(Self.other)
        device.stay(Self.one)
        device.end(Self.one, at: 0)
        #expect(!device.lapses(at: 60_000) && device.control.holder == Self.one)
        #expect(device.claim(Self.one, at: 60_000) == .granted(former: nil))
        device.end(Self.one, at: 60_000)
        #expect(device.claim(Self.other, at: 64_999) == .refused(by: Self.one))
        #expect(device.claim(Self.other, at: 65_000) == .granted(former: Self.one))
        device.end(Self.other, at: 65_000)
        #expect(device.lapses(at: 70_000), "the other one does not stay")
    }

    @Test("unless another takes over")
    func takes() {
        let device = Device()
        _ = device.claim(Self.one, at: 0)
        #expect(device.claim(Self.other, at: 1, takes: true) == .granted(former: Self.one))
        #expect(device.claim(Self.one, at: 2) == .refused(by: Self.other))
        // The end of its earlier call changes nothing.
        device.end(Self.one, at: 3)
        #expect(!device.lapses(at: 60_000))
        device.end(Self.other, at: 60_000)
        #expect(device.lapses(at: 65_000))
    }

    @Test("or until it leaves")
    func leaves() {
        let device = Device()
        _ = device.claim(Self.one, at: 0)
        device.end(Self.one, at: 0)
        device.leave(Self.other)
        #expect(device.control.holder == Self.one)
        _ = device.claim(Self.one, at: 1)
        device.leave(Self.one)
        #expect(device.control.holder == Self.one, "another of its calls is under way")
        device.end(Self.one, at: 2)
        device.leave(Self.one)
        #expect(device.control.holder == nil)
        #expect(device.claim(Self.other, at: 0) == .granted(former: nil))
    }

    @Test("may do what the agent's desktop can")
    func capabilities() {
        let some = InputCapabilities(backend: "x11", pointer: true)
        #expect(some.objection(to: [.pointer(x: 1, y: 1), .pause(milliseconds: 1), .releaseAll]) == nil)
        #expect(some.objection(to: [.text("a")])?.contains("no keys") == true)
        #expect(some.objection(to: [.touch(id: 0, phase: .down, x: 0, y: 0)])?.contains("no touches") == true)
        #expect(some.objection(to: [.resize(width: 640, height: 480)])?.contains("no monitor") == true)
        var none = InputCapabilities(backend: "none", problem: "start sway")
        #expect(none.objection(to: [.pause(milliseconds: 1)]) == "start sway")
        none.resize = true
        #expect(none.objection(to: [.resize(width: 640, height: 480)]) == nil)
    }
}
