import CInput
import CaptureAgent
import FoundationEssentials
import Gamepads
import Glibc
import Program
import Synchronization
import TestSupport
import Testing
import Wire

/// The state with everything pressed and moved that an Xbox pad has.
private let everything = GamepadState(
    buttons: [.south, .north, .leftShoulder, .start, .home, .rightStick, .up, .right],
    leftStick: GamepadState.Stick(x: -32768, y: 32767),
    rightStick: GamepadState.Stick(x: 1000, y: -1000),
    leftTrigger: 12,
    rightTrigger: 255
)

/// Reads a structure of the kernel's headers from bytes, which the kernel extends with zeros.
private func structure<Structure>(_: Structure.Type, of bytes: [UInt8]) -> Structure {
    let padded = bytes + [UInt8](repeating: 0, count: max(0, MemoryLayout<Structure>.size - bytes.count))
    let (size, alignment) = (MemoryLayout<Structure>.size, MemoryLayout<Structure>.alignment)
    return withUnsafeTemporaryAllocation(byteCount: size, alignment: alignment) { memory in
        memory.copyBytes(from: padded.prefix(size))
        return memory.load(as: Structure.self)
    }
}

private func bytes<Structure>(of structure: Structure) -> [UInt8] {
    withUnsafeBytes(of: structure) { Array($0) }
}

/// A kernel that records what it gets, and gives what a test puts in. Neither node exists where tests run.
private final class RecordedKernel: KernelNode {
    let descriptor: Int32 = -1
    var written: [[UInt8]] = []
    var numbers: [(UInt, Int32)] = []
    var requests: [(UInt, [UInt8])] = []
    var incoming: [[UInt8]] = []
    /// The answers to requests by their codes.
    var answers: [UInt: [UInt8]] = [:]
    var failing = false
    var closed = 0

    func write(_ bytes: [UInt8]) throws(InputFailure) {
        if failing { throw .lost("gone") }
        written.append(bytes)
    }

    func read(_ count: Int) throws(InputFailure) -> [UInt8] { incoming.isEmpty ? [] : incoming.removeFirst() }

    func control(_ request: UInt, _ number: Int32) throws(InputFailure) {
        if failing { throw .lost("refused") }
        numbers.append((request, number))
    }

    func control(_ request: UInt, _ bytes: [UInt8]) throws(InputFailure) -> [UInt8] {
        requests.append((request, bytes))
        return answers[request] ?? bytes
    }

    func close() { closed += 1 }
}

@Suite("An Xbox 360 pad for uinput")
struct XboxPadTests {
    @Test("its setup has the identity, codes and ranges of the kernel's headers")
    func setup() throws {
        let kernel = RecordedKernel()
        _ = try XboxPad(kernel)
        func numbers(_ request: UInt) -> Set<Int32> { Set(kernel.numbers.filter { $0.0 == request }.map(\.1)) }
        #expect(numbers(cinput_set_event_bit) == [EV_KEY, EV_ABS, EV_FF])
        #expect(
            numbers(cinput_set_key_bit) == [
                BTN_A, BTN_B, BTN_X, BTN_Y, BTN_TL, BTN_TR, BTN_SELECT, BTN_START, BTN_MODE, BTN_THUMBL, BTN_THUMBR,
            ]
        )
        #expect(numbers(cinput_set_feedback_bit) == [FF_RUMBLE, FF_GAIN])
        #expect(kernel.numbers.last?.0 == cinput_device_create)
        let axes = kernel.requests.filter { $0.0 == cinput_axis_setup }.map {
            structure(uinput_abs_setup.self, of: $0.1)
        }
        #expect(
            axes.map { Int32($0.code) } == [ABS_X, ABS_Y, ABS_RX, ABS_RY, ABS_Z, ABS_RZ, ABS_HAT0X, ABS_HAT0Y]
        )
        #expect(axes.map(\.absinfo.minimum) == [-32768, -32768, -32768, -32768, 0, 0, -1, -1])
        #expect(axes.map(\.absinfo.maximum) == [32767, 32767, 32767, 32767, 255, 255, 1, 1])
        #expect(axes.map(\.absinfo.flat) == [128, 128, 128, 128, 0, 0, 0, 0])
        let device = structure(
            uinput_setup.self,
            of: try #require(kernel.requests.last { $0.0 == cinput_device_setup }).1
        )
        #expect(device.id.bustype == UInt16(BUS_USB) && device.id.vendor == 0x045E && device.id.product == 0x028E)
        #expect(device.ff_effects_max == XboxReport.effectLimit)
        let name = withUnsafeBytes(of: device.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        #expect(name == "Microsoft X-Box 360 pad")
    }

    @Test("a state is all its events and one report")
    func events() throws {
        let kernel = RecordedKernel()
        let pad = try XboxPad(kernel)
        try pad.show(everything, now: 0)
        let written = try #require(kernel.written.first)
        let size = MemoryLayout<input_event>.size
        #expect(size == InputEvent.byteCount && written.count % size == 0)
        let events = stride(from: 0, to: written.count, by: size).map {
            structure(input_event.self, of: Array(written[$0..<$0 + size]))
        }
        func value(_ type: Int32, _ code: Int32) -> Int32? {
            events.first { Int32($0.type) == type && Int32($0.code) == code }?.value
        }
        for button in [BTN_A, BTN_Y, BTN_TL, BTN_START, BTN_MODE, BTN_THUMBR] { #expect(value(EV_KEY, button) == 1) }
        for button in [BTN_B, BTN_X, BTN_TR, BTN_SELECT, BTN_THUMBL] { #expect(value(EV_KEY, button) == 0) }
        #expect(value(EV_ABS, ABS_X) == -32768 && value(EV_ABS, ABS_Y) == 32767)
        #expect(value(EV_ABS, ABS_RX) == 1000 && value(EV_ABS, ABS_RY) == -1000)
        #expect(value(EV_ABS, ABS_Z) == 12 && value(EV_ABS, ABS_RZ) == 255)
        #expect(value(EV_ABS, ABS_HAT0X) == 1 && value(EV_ABS, ABS_HAT0Y) == -1)
        #expect(events.count { Int32($0.type) == EV_SYN } == 1)
        #expect(events.last.map { Int32($0.type) } == EV_SYN)
        // Nothing is held after a neutral state, whatever was before.
        let neutral = XboxReport.events(.neutral)
        #expect(neutral.allSatisfy { $0.value == 0 } && neutral.count == events.count)
    }

    @Test("states read back as they were shown", arguments: UInt64(0)..<200)
    func readBack(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var state = GamepadState(
            buttons: GamepadState.Buttons(rawValue: UInt32.random(in: 0..<(1 << 17), using: &generator)),
            leftStick: GamepadState.Stick(x: .random(in: .min ... .max, using: &generator)),
            rightStick: GamepadState.Stick(y: .random(in: .min ... .max, using: &generator)),
            leftTrigger: .random(in: 0...255, using: &generator)
        )
        // An Xbox pad has no trigger buttons, and a hat has one direction.
        state.buttons.remove([.leftTrigger, .rightTrigger, .left, .down])
        let sticks = [ABS_X, ABS_Y, ABS_RX, ABS_RY].map { (UInt16($0), EvdevPad.Axis(minimum: -32768, maximum: 32767)) }
        let triggers = [ABS_Z, ABS_RZ].map { (UInt16($0), EvdevPad.Axis(minimum: 0, maximum: 255)) }
        let hat = [ABS_HAT0X, ABS_HAT0Y].map { (UInt16($0), EvdevPad.Axis(minimum: -1, maximum: 1)) }
        var reader = EvdevPad(axes: Dictionary(uniqueKeysWithValues: sticks + triggers + hat), codes: .xpad)
        var bytes = XboxReport.events(state).flatMap(\.bytes)
        let read = InputEvent.take(from: &bytes).map { reader.take($0) }.last
        #expect(bytes.isEmpty)
        #expect(read == (state == .neutral ? .nothing : .state(state)))
    }

    private func event(_ type: Int32, _ code: Int32, _ value: Int32) -> [UInt8] {
        var event = input_event()
        (event.type, event.code, event.value) = (UInt16(type), UInt16(code), value)
        return bytes(of: event)
    }

    private func upload(_ id: Int16, type: Int32 = FF_RUMBLE, strong: UInt16, weak: UInt16, length: UInt16) -> [UInt8] {
        var upload = uinput_ff_upload()
        upload.request_id = 7
        upload.effect.type = UInt16(type)
        upload.effect.id = id
        upload.effect.replay.length = length
        upload.effect.u.rumble = ff_rumble_effect(strong_magnitude: strong, weak_magnitude: weak)
        return bytes(of: upload)
    }

    @Test("an effect is uploaded, played, ends by itself, and is erased; its application gets each answer")
    func rumble() throws {
        let kernel = RecordedKernel()
        let pad = try XboxPad(kernel)
        kernel.answers[cinput_begin_upload] = upload(3, strong: 40_000, weak: 500, length: 200)
        kernel.incoming = [event(EV_UINPUT, UI_FF_UPLOAD, 7)]
        try pad.receive(now: 0)
        let asked = try #require(kernel.requests.first { $0.0 == cinput_begin_upload })
        #expect(
            structure(uinput_ff_upload.self, of: asked.1).request_id == 7
                && asked.1.count == MemoryLayout<uinput_ff_upload>.size
        )
        let told = try #require(kernel.requests.first { $0.0 == cinput_end_upload })
        #expect(structure(uinput_ff_upload.self, of: told.1).retval == 0)
        #expect(pad.feedback == GamepadFeedback() && pad.deadline == nil)
        kernel.incoming = [event(EV_FF, 3, 1)]
        try pad.receive(now: 1_000)
        #expect(pad.feedback == GamepadFeedback(strong: 40_000, weak: 500))
        let end = try #require(pad.deadline)
        #expect(end == 1_000 + 200_000_000)
        kernel.incoming = [event(EV_FF, FF_GAIN, 0x7FFF)]
        try pad.receive(now: 2_000)
        #expect(abs(Int(pad.feedback.strong) - 20_000) < 2)
        try pad.receive(now: end)
        #expect(pad.feedback == GamepadFeedback() && pad.deadline == nil)
        kernel.incoming = [event(EV_FF, 3, 1), event(EV_UINPUT, UI_FF_ERASE, 8)]
        var erase = uinput_ff_erase()
        (erase.request_id, erase.effect_id) = (8, 3)
        kernel.answers[cinput_begin_erase] = bytes(of: erase)
        try pad.receive(now: end)
        #expect(pad.feedback == GamepadFeedback())
        #expect(kernel.requests.contains { $0.0 == cinput_end_erase })
    }

    @Test("an effect without an end plays until it is stopped; another kind is refused")
    func endless() throws {
        let kernel = RecordedKernel()
        let pad = try XboxPad(kernel)
        kernel.answers[cinput_begin_upload] = upload(0, strong: 9, weak: 8, length: 0)
        kernel.incoming = [event(EV_UINPUT, UI_FF_UPLOAD, 1), event(EV_FF, 0, 1)]
        try pad.receive(now: 5)
        #expect(pad.feedback == GamepadFeedback(strong: 9, weak: 8) && pad.deadline == nil)
        kernel.incoming = [event(EV_FF, 0, 0)]
        try pad.receive(now: 1 << 60)
        #expect(pad.feedback == GamepadFeedback())
        // As often as an event can say: far longer than anyone plays.
        kernel.answers[cinput_begin_upload] = upload(0, strong: 9, weak: 8, length: .max)
        kernel.incoming = [event(EV_UINPUT, UI_FF_UPLOAD, 1), event(EV_FF, 0, .max)]
        try pad.receive(now: 5)
        #expect(pad.feedback == GamepadFeedback(strong: 9, weak: 8))
        for (id, type) in [(Int16(0), FF_PERIODIC), (16, FF_RUMBLE), (-1, FF_RUMBLE)] {
            var effects = RumbleEffects()
            #expect(effects.upload(upload(id, type: type, strong: 1, weak: 1, length: 1)) == RumbleEffects.invalid)
        }
    }

    @Test("a node that refuses the setup is closed, once")
    func refused() {
        let kernel = RecordedKernel()
        kernel.failing = true
        #expect(throws: InputFailure.self) { try XboxPad(kernel) }
        #expect(kernel.closed == 1)
    }
}

@Suite("A DualSense for uhid")
struct DualSensePadTests {
    private static let address: [UInt8] = [1, 2, 3, 4, 5, 0xC2]

    private func uhid(_ type: uhid_event_type, _ change: (inout uhid_event) -> Void = { _ in }) -> [UInt8] {
        var event = uhid_event()
        event.type = type.rawValue
        change(&event)
        return bytes(of: event)
    }

    private func output(_ report: [UInt8]) -> [UInt8] {
        uhid(UHID_OUTPUT) { event in
            event.u.output.size = UInt16(report.count)
            withUnsafeMutableBytes(of: &event.u.output.data) { $0.copyBytes(from: report) }
        }
    }

    @Test("its first event makes a USB device with the report descriptor")
    func create() throws {
        let kernel = RecordedKernel()
        _ = try DualSensePad(kernel, address: Self.address)
        let event = structure(uhid_event.self, of: try #require(kernel.written.first))
        #expect(event.type == UHID_CREATE2.rawValue)
        let create = event.u.create2
        #expect(create.bus == UInt16(BUS_USB) && create.vendor == 0x054C && create.product == 0x0CE6)
        let descriptor = withUnsafeBytes(of: create.rd_data) { Array($0.prefix(Int(create.rd_size))) }
        #expect(descriptor == DualSenseReport.descriptor)
        let name = withUnsafeBytes(of: create.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        #expect(name.hasSuffix("DualSense Wireless Controller"))
    }

    @Test("input reports go out once the driver has opened the device, the newest state first")
    func opened() throws {
        let kernel = RecordedKernel()
        let pad = try DualSensePad(kernel, address: Self.address)
        try pad.show(everything, now: 0)
        #expect(kernel.written.count == 1)
        kernel.incoming = [uhid(UHID_START), uhid(UHID_OPEN)]
        try pad.receive(now: 3_000)
        let event = structure(uhid_event.self, of: try #require(kernel.written.last))
        #expect(event.type == UHID_INPUT2.rawValue && event.u.input2.size == 64)
        let report = withUnsafeBytes(of: event.u.input2.data) { Array($0.prefix(64)) }
        #expect(report == DualSenseReport.input(everything, sequence: 0, time: 3_000))
        try pad.show(.neutral, now: 4_000)
        #expect(kernel.written.count == 3)
        kernel.incoming = [uhid(UHID_CLOSE)]
        try pad.receive(now: 5_000)
        try pad.show(everything, now: 6_000)
        #expect(kernel.written.count == 3)
    }

    @Test("an input report has its fields where hid-playstation reads them")
    func input() {
        var state = everything
        state.buttons.insert([.touchpad, .mute, .west])
        state.firstTouch = GamepadState.Touch(id: 5, x: 0x777, y: 0x433)
        state.turn = GamepadState.Vector(x: 1, y: -2, z: 0x0304)
        state.acceleration = GamepadState.Vector(x: 0, y: 8192, z: -1)
        let report = DualSenseReport.input(state, sequence: 9, time: 2_000_000)
        #expect(report.count == DualSenseReport.inputByteCount)
        #expect(Array(report[0..<8]) == [1, 0, 255, 131, 124, 12, 255, 9])
        // Up and right, and square, cross and triangle; L1, both triggers, options, R3; PS, touchpad, mute.
        #expect(Array(report[8..<12]) == [0xB1, 0xAD, 0x07, 0])
        #expect(Array(report[16..<28]) == [1, 0, 0xFE, 0xFF, 4, 3, 0, 0, 0, 0x20, 0xFF, 0xFF])
        #expect(Array(report[28..<32]) == [0x70, 0x17, 0, 0])
        #expect(Array(report[33..<41]) == [5, 0x77, 0x37, 0x43, 0x80, 0, 0, 0])
        #expect(report[53] == 0x2A)
    }

    @Test("a neutral report holds nothing: sticks in the middle, no direction, no finger")
    func neutral() {
        let report = DualSenseReport.input(.neutral, sequence: 0, time: 0)
        #expect(Array(report[1..<12]) == [128, 128, 128, 128, 0, 0, 0, 8, 0, 0, 0])
        #expect(report[33] == 0x80 && report[37] == 0x80)
    }

    @Test(
        "each direction has its number, and opposite ones cancel each other",
        arguments: [
            ([.up], 0), ([.up, .right], 1), ([.right], 2), ([.right, .down], 3), ([.down], 4), ([.down, .left], 5),
            ([.left], 6), ([.left, .up], 7), ([], 8), ([.left, .right], 8), ([.up, .down, .left], 6),
        ] as [(GamepadState.Buttons, UInt8)]
    )
    func hat(buttons: GamepadState.Buttons, number: UInt8) {
        #expect(DualSenseReport.input(GamepadState(buttons: buttons), sequence: 0, time: 0)[8] == number)
    }

    @Test("an output report changes what its flags name, and nothing else")
    func output() throws {
        let kernel = RecordedKernel()
        let pad = try DualSensePad(kernel, address: Self.address)
        var report = [UInt8](repeating: 0, count: 63)
        report[0] = 2
        (report[3], report[4]) = (10, 200)
        report[11] = 0x21
        report.replaceSubrange(22..<33, with: [0x25, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
        report[44] = 0x3B
        report.replaceSubrange(45..<48, with: [1, 2, 3])
        kernel.incoming = [output(report)]
        try pad.receive(now: 0)
        #expect(pad.feedback == GamepadFeedback())
        // Rumble by the flag of newer firmware, lightbar, player lights, left trigger.
        (report[1], report[2], report[39]) = (0x08 | 0x02, 0x04 | 0x10, 0x04)
        kernel.incoming = [output(report)]
        try pad.receive(now: 0)
        let all = GamepadFeedback(
            strong: 200 * 257,
            weak: 10 * 257,
            lightbar: GamepadFeedback.Colour(red: 1, green: 2, blue: 3),
            playerLights: 0x1B,
            leftTrigger: [0x25, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        )
        #expect(pad.feedback == all)
        // The end of the trigger's effect; then lights out.
        var end = [UInt8](repeating: 0, count: 48)
        (end[0], end[1], end[22]) = (2, 0x08, 0x05)
        kernel.incoming = [output(end)]
        try pad.receive(now: 0)
        #expect(pad.feedback.leftTrigger.isEmpty && pad.feedback.strong == all.strong)
        end[1] = 0
        end[2] = 0x08
        kernel.incoming = [output(end)]
        try pad.receive(now: 0)
        #expect(pad.feedback.lightbar == nil && pad.feedback.playerLights == 0)
        let malformed: [[UInt8]] = [[], [2], [1] + report.dropFirst(), Array(report.prefix(47))]
        for report in malformed {
            var feedback = all
            #expect(!DualSenseReport.apply(report, to: &feedback))
            #expect(feedback == all)
        }
    }

    @Test(
        "the driver gets the feature reports that it asks for, with its lengths",
        arguments: [(5, 41), (9, 20), (0x20, 64)] as [(UInt8, Int)]
    )
    func feature(id: UInt8, count: Int) throws {
        let kernel = RecordedKernel()
        let pad = try DualSensePad(kernel, address: Self.address)
        kernel.incoming = [
            uhid(UHID_GET_REPORT) {
                $0.u.get_report.id = 99
                $0.u.get_report.rnum = id
            }
        ]
        try pad.receive(now: 0)
        let reply = structure(uhid_event.self, of: try #require(kernel.written.last))
        #expect(reply.type == UHID_GET_REPORT_REPLY.rawValue)
        let answer = reply.u.get_report_reply
        #expect(answer.id == 99 && answer.err == 0 && Int(answer.size) == count)
        let report = withUnsafeBytes(of: answer.data) { Array($0.prefix(count)) }
        #expect(report.first == id)
        if id == 9 { #expect(Array(report[1..<7]) == Self.address) }
    }

    @Test("an unknown feature report and a report to set are answered, so that nobody waits")
    func unknown() throws {
        let kernel = RecordedKernel()
        let pad = try DualSensePad(kernel, address: Self.address)
        kernel.incoming = [
            uhid(UHID_GET_REPORT) {
                $0.u.get_report.id = 1
                $0.u.get_report.rnum = 0x81
            },
            uhid(UHID_SET_REPORT) {
                $0.u.set_report.id = 2
                $0.u.set_report.size = 3
            },
        ]
        try pad.receive(now: 0)
        let replies: [uhid_event] = kernel.written.suffix(2).map { structure(uhid_event.self, of: $0) }
        #expect(replies.map(\.type) == [UHID_GET_REPORT_REPLY.rawValue, UHID_SET_REPORT_REPLY.rawValue])
        #expect(replies[0].u.get_report_reply.id == 1 && replies[0].u.get_report_reply.err != 0)
        #expect(replies[1].u.set_report_reply.id == 2 && replies[1].u.set_report_reply.err != 0)
    }

    @Test("the calibration makes numbers mean what the state says, by the driver's formula")
    func calibration() throws {
        let report = try #require(DualSenseReport.feature(5, address: []))
        func number(_ offset: Int) -> Int {
            Int(Int16(bitPattern: UInt16(report[offset]) | UInt16(report[offset + 1]) << 8))
        }
        let speed = number(19) + number(21)
        for axis in 0..<3 {
            // The driver's unit is 1/1024 degree per second, the state's 1/16.
            let (plus, minus) = (number(7 + 4 * axis), number(9 + 4 * axis))
            #expect(speed * 1024 * 16 / (plus - minus) == 1024)
            // 1/8192 g in both.
            let (most, least) = (number(23 + 4 * axis), number(25 + 4 * axis))
            #expect(2 * 8192 / (most - least) == 1 && most - (most - least) / 2 == 0)
        }
    }

    @Test("addresses are made up, local ones of one machine, and differ")
    func addresses() {
        let all = (0..<100).map { _ in DualSensePad.newAddress }
        #expect(Set(all).count == 100)
        #expect(all.allSatisfy { $0.count == 6 && $0[5] & 0x03 == 0x02 })
    }

    @Test(
        "bytes that do not hold an event are ignored",
        arguments: [[], [6], [6, 0, 0, 0, 1], [9, 0, 0, 0], [200, 0, 0, 0]] as [[UInt8]]
    )
    func malformed(bytes: [UInt8]) { #expect(HIDEvent(bytes: bytes) == .other) }

    @Test("an output event that announces more than there is is ignored")
    func tooLong() {
        var event = uhid(UHID_OUTPUT) { $0.u.output.size = 4097 }
        #expect(HIDEvent(bytes: event) == .other)
        event = uhid(UHID_SET_REPORT) { $0.u.set_report.size = 65_535 }
        #expect(HIDEvent(bytes: event) == .other)
    }
}

@Suite("The report descriptor")
struct ReportDescriptorTests {
    /// The bits of each report, by `input`, `output` or `feature` and its id, as HID 1.11, section 6.2.2, counts them.
    private static func bits(of descriptor: [UInt8]) throws -> [String: Int] {
        var (index, size, count, id, depth) = (0, 0, 0, 0, 0)
        var bits: [String: Int] = [:]
        while index < descriptor.count {
            let prefix = descriptor[index]
            let length = [0, 1, 2, 4][Int(prefix & 3)]
            try #require(index + length < descriptor.count, "an item ends after the descriptor")
            let value = (0..<length).reduce(0) { $0 | Int(descriptor[index + 1 + $1]) << (8 * $1) }
            switch prefix & 0xFC {
            case 0x74: size = value
            case 0x94: count = value
            case 0x84: id = value
            case 0x80: bits["input \(id)", default: 0] += size * count
            case 0x90: bits["output \(id)", default: 0] += size * count
            case 0xB0: bits["feature \(id)", default: 0] += size * count
            case 0xA0: depth += 1
            case 0xC0: depth -= 1
            default: break
            }
            index += 1 + length
        }
        try #require(depth == 0, "collections are open")
        return bits
    }

    @Test("describes reports of exactly the lengths that are sent")
    func lengths() throws {
        let bits = try Self.bits(of: DualSenseReport.descriptor)
        var expected = [
            "input 1": 8 * (DualSenseReport.inputByteCount - 1), "output 2": 8 * (DualSenseReport.outputByteCount - 1),
        ]
        for id in [UInt8(5), 9, 0x20] {
            let report = try #require(DualSenseReport.feature(id, address: [0, 0, 0, 0, 0, 0]))
            expected["feature \(id)"] = 8 * (report.count - 1)
        }
        #expect(bits == expected)
    }
}

/// A gamepad that records what it shows.
private final class RecordedPad: GamepadDevice {
    struct Record: Sendable {
        var shown: [GamepadState] = []
        var closed = 0
        var fails = false
    }

    let record: Recording
    let descriptor: Int32
    var deadline: UInt64?
    var feedback = GamepadFeedback()

    init(_ record: Recording, descriptor: Int32 = -1) { (self.record, self.descriptor) = (record, descriptor) }

    func show(_ state: GamepadState, now: UInt64) throws(InputFailure) {
        if record.value.withLock({ $0.fails }) { throw .lost("unplugged") }
        record.value.withLock { $0.shown.append(state) }
    }

    func receive(now: UInt64) throws(InputFailure) {}
    func close() { record.value.withLock { $0.closed += 1 } }
}

private final class Recording: Sendable {
    let value = Mutex(RecordedPad.Record())
    var shown: [GamepadState] { value.withLock { $0.shown } }
    var closed: Int { value.withLock { $0.closed } }
}

@Suite("The agent's gamepad")
struct GamepadHandTests {
    private final class Scene {
        var made: [(type: GamepadType, pad: RecordedPad)] = []
        var reports: [GamepadReport] = []
        /// The types that cannot be made.
        var missing: Set<GamepadType> = []
        var wish = GamepadHand.Wish()
        lazy var hand = GamepadHand { [unowned self] (type: GamepadType) throws(InputFailure) -> any GamepadDevice in
            if self.missing.contains(type) { throw .unsupported("no \(type.node)") }
            let pad = RecordedPad(Recording())
            self.made.append((type, pad))
            return pad
        } send: { [unowned self] report in
            self.reports.append(report)
        }

        func order(_ id: UInt32, _ action: GamepadOrder.Action, now: UInt64) {
            wish.follow(GamepadOrder(id: id, action), now: now)
            hand.follow(wish, now: now)
        }

        var shown: [GamepadState] { made.last?.pad.record.shown ?? [] }
    }

    private static let second: UInt64 = 1_000_000_000

    @Test("is made as the type that was asked for, or the first that can be made")
    func types() {
        let scene = Scene()
        scene.order(1, .connect(.dualsense), now: 0)
        #expect(
            scene.made.map(\.type) == [.dualsense]
                && scene.reports.first == GamepadReport(id: 1, .connected(.dualsense))
        )
        scene.order(2, .connect(nil), now: 0)
        #expect(scene.made.last?.type == .xbox && scene.made[0].pad.record.closed == 1)
        scene.missing = [.xbox]
        scene.order(3, .connect(nil), now: 0)
        #expect(scene.made.last?.type == .dualsense)
        scene.order(4, .connect(.xbox), now: 0)
        #expect(scene.reports.last == GamepadReport(id: 4, .failed("no /dev/uinput")))
        #expect(scene.made.allSatisfy { $0.pad.record.closed == 1 })
        scene.missing = [.xbox, .dualsense]
        scene.order(5, .connect(nil), now: 0)
        #expect(scene.reports.last == GamepadReport(id: 5, .failed("no /dev/uinput no /dev/uhid")))
        // It is not tried again for each state.
        let count = scene.reports.count
        scene.order(5, .state(everything), now: 0)
        #expect(scene.reports.count == count && scene.hand.deadline == nil)
    }

    @Test("begins neutral, and shows each new state once")
    func states() {
        let scene = Scene()
        scene.order(1, .connect(nil), now: 0)
        scene.order(1, .state(everything), now: 1)
        scene.order(1, .state(everything), now: 2)
        scene.order(9, .state(.neutral), now: 3)
        #expect(scene.shown == [.neutral, everything])
    }

    @Test("is neutral after 2 s of silence, and not before; the next state counts again")
    func silence() {
        let scene = Scene()
        scene.order(1, .connect(nil), now: 0)
        #expect(scene.hand.deadline == nil)
        scene.order(1, .state(everything), now: Self.second)
        #expect(scene.hand.deadline == 3 * Self.second)
        scene.hand.follow(scene.wish, now: 3 * Self.second - 1)
        #expect(scene.shown.last == everything)
        scene.hand.follow(scene.wish, now: 3 * Self.second)
        #expect(scene.shown.last == .neutral && scene.hand.deadline == nil)
        scene.order(1, .state(everything), now: 4 * Self.second)
        #expect(scene.shown == [.neutral, everything, .neutral, everything])
    }

    @Test("is neutral and gone after a disconnect, after another connect, and when its link ends")
    func ends() {
        for end: (Scene) -> Void in [
            { $0.order(1, .disconnect, now: 2) }, { $0.order(2, .connect(nil), now: 2) }, { $0.hand.end(now: 2) },
        ] {
            let scene = Scene()
            scene.order(1, .connect(nil), now: 0)
            scene.order(1, .state(everything), now: 1)
            let record = scene.made[0].pad.record
            end(scene)
            #expect(record.shown == [.neutral, everything, .neutral] && record.closed == 1)
            #expect(scene.hand.deadline == nil)
        }
    }

    @Test("that the kernel has taken away is closed and reported, once")
    func lost() {
        let scene = Scene()
        scene.order(1, .connect(nil), now: 0)
        let record = scene.made[0].pad.record
        record.value.withLock { $0.fails = true }
        scene.order(1, .state(everything), now: 1)
        scene.order(1, .state(.neutral), now: 2)
        #expect(record.closed == 1)
        let reports = [GamepadReport(id: 1, .connected(.xbox)), GamepadReport(id: 1, .failed("unplugged"))]
        #expect(scene.reports == reports)
        scene.hand.end(now: 3)
        #expect(record.closed == 1)
    }

    @Test("reports what applications want, whenever that changes")
    func feedback() {
        let scene = Scene()
        scene.order(1, .connect(nil), now: 0)
        scene.made[0].pad.feedback = GamepadFeedback(strong: 1)
        scene.hand.follow(scene.wish, now: 1)
        scene.hand.follow(scene.wish, now: 2)
        #expect(
            scene.reports == [
                GamepadReport(id: 1, .connected(.xbox)), GamepadReport(id: 1, .feedback(GamepadFeedback(strong: 1))),
            ]
        )
    }

    @Test("reports at most 100 times a second, and the last wish always")
    func feedbackRate() {
        let scene = Scene()
        scene.order(1, .connect(nil), now: 0)
        for step in 1...100 {
            scene.made[0].pad.feedback = GamepadFeedback(strong: UInt16(step))
            scene.hand.follow(scene.wish, now: UInt64(step) * 1_000_000)
        }
        #expect(scene.reports.count == 1 + 10)
        let last = GamepadReport(id: 1, .feedback(GamepadFeedback(strong: 100)))
        if let deadline = scene.hand.deadline { scene.hand.follow(scene.wish, now: deadline) }
        #expect(scene.reports.last == last && scene.hand.deadline == nil)
    }

    @Test("follows orders in its thread, and ends with the desk")
    func desk() async throws {
        let recording = Recording()
        let event = try Event()
        let reports = Mutex<[GamepadReport]>([])
        let desk = GamepadDesk(changed: try Event()) { (_: GamepadType) throws(InputFailure) -> any GamepadDevice in
            RecordedPad(recording, descriptor: event.descriptor)
        } send: { report in
            reports.withLock { $0.append(report) }
        }
        let thread = try WorkerThread(name: "gamepad") { desk.run() }
        desk.take(GamepadOrder(id: 1, .connect(nil)))
        _ = try await eventually("the state") {
            // Told again, because it is shown only for 2 s after it was told. On a busy machine that may have passed
            // before the look.
            desk.take(GamepadOrder(id: 1, .state(everything)))
            return recording.shown.contains(everything) ? true : nil
        }
        desk.close()
        thread.join()
        #expect(recording.shown.last == .neutral && recording.closed == 1)
        #expect(reports.withLock { $0.first } == GamepadReport(id: 1, .connected(.xbox)))
    }

    @Test("a missing node is reported, and what to do")
    func diagnosis() throws {
        let problem = try #require(GamepadDiagnosis.problem(of: .xbox, node: "/dev/no-such-node"))
        #expect(problem.what.contains("/dev/no-such-node does not exist") && problem.advice.contains("modprobe uinput"))
        #expect(GamepadDiagnosis.problem(of: .dualsense, node: "/dev/null") == nil)
        #expect(GamepadDiagnosis.findings().map(\.check) == ["gamepad-xbox", "gamepad-dualsense"])
    }
}

@Suite("The guard of a gamepad")
struct GamepadGuardTests {
    /// Waits for bytes on a socket.
    ///
    /// - Returns: What came, and when, in monotonic ns; `nil` if nothing came in time.
    private static func received(_ socket: Int32, within milliseconds: Int32) -> (bytes: [UInt8], at: UInt64)? {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, milliseconds) == 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(socket, &bytes, bytes.count, 0)
        return count > 0 ? (Array(bytes.prefix(count)), MonotonicClock.now) : nil
    }

    private static func sockets() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    /// Starts the process itself, with a socket in the node's place.
    private static func start(_ type: GamepadType, node: Int32) throws -> GamepadGuard {
        try GamepadGuard(type, node: node, executable: Programs.product("capture-agent").path)
    }

    @Test("makes it neutral soon after the agent falls silent, once", arguments: GamepadType.allCases)
    func silent(type: GamepadType) throws {
        let (node, kernel) = try Self.sockets()
        defer { close(kernel) }
        let guardian = try Self.start(type, node: node)
        defer {
            guardian.close()
            close(node)
        }
        var last: UInt64 = 0
        for _ in 0..<20 {
            try guardian.tell(isHeld: true)
            last = MonotonicClock.now
            #expect(Self.received(kernel, within: 50) == nil)
        }
        let (bytes, at) = try #require(Self.received(kernel, within: 5_000))
        #expect(at - last >= GamepadGuard.longestSilence - .milliseconds(20))
        #expect(at - last < .milliseconds(1_000), "\((at - last) / 1_000_000) ms")
        let expected = GamepadGuard.neutral(type)
        // The time of a report of a DualSense differs.
        #expect(bytes.count == expected.count && bytes.prefix(28) == expected.prefix(28))
        #expect(Self.received(kernel, within: 500) == nil)
    }

    @Test("does nothing while nothing is held, and lets go of the node when it ends")
    func idle() throws {
        let (node, kernel) = try Self.sockets()
        defer { close(kernel) }
        let guardian = try Self.start(.xbox, node: node)
        close(node)
        try guardian.tell(isHeld: true)
        try guardian.tell(isHeld: false)
        #expect(Self.received(kernel, within: 500) == nil)
        guardian.close()
        var byte: UInt8 = 0
        #expect(recv(kernel, &byte, 1, Int32(MSG_DONTWAIT)) == 0, "the process still has the node")
    }

    @Test("beats while something is held, and shows the state again after a hang")
    func pad() throws {
        let (node, kernel) = try Self.sockets()
        defer { close(kernel) }
        let recording = Recording()
        let pad = GuardedPad(RecordedPad(recording), try Self.start(.xbox, node: node))
        let now = MonotonicClock.now
        try pad.show(.neutral, now: now)
        #expect(pad.deadline == nil)
        try pad.show(everything, now: now)
        #expect(pad.deadline == now + GamepadGuard.beatInterval)
        try pad.receive(now: now + GamepadGuard.beatInterval)
        #expect(recording.shown == [.neutral, everything])
        // The agent was stopped for a second.
        _ = try #require(Self.received(kernel, within: 5_000))
        try pad.receive(now: now + 1_000_000_000)
        #expect(recording.shown == [.neutral, everything, everything])
        try pad.show(.neutral, now: now + 1_100_000_000)
        #expect(pad.deadline == nil)
        pad.close()
        close(node)
        #expect(recording.closed == 1)
    }
}

@Suite("A gamepad of this machine")
struct EvdevPadTests {
    private func pad(_ axes: [Int32: (Int32, Int32)], _ codes: ButtonCodes = .positions) -> EvdevPad {
        EvdevPad(
            axes: Dictionary(
                uniqueKeysWithValues: axes.map { (UInt16($0), EvdevPad.Axis(minimum: $1.0, maximum: $1.1)) }
            ),
            codes: codes
        )
    }

    /// Feeds events of the kernel's header, and returns the outcome of the report after them.
    private func outcome(_ pad: inout EvdevPad, _ events: [(Int32, Int32, Int32)]) -> EvdevPad.Outcome {
        var stream = (events + [(EV_SYN, SYN_REPORT, 0)]).flatMap { type, code, value -> [UInt8] in
            var event = input_event()
            (event.type, event.code, event.value) = (UInt16(type), UInt16(code), value)
            return bytes(of: event)
        }
        return InputEvent.take(from: &stream).map { pad.take($0) }.last ?? .nothing
    }

    @Test("has its buttons by position, or as the driver xpad names them")
    func buttons() {
        var sony = pad([:])
        #expect(outcome(&sony, [(EV_KEY, BTN_NORTH, 1)]) == .state(GamepadState(buttons: .north)))
        #expect(
            outcome(&sony, [(EV_KEY, BTN_NORTH, 0), (EV_KEY, BTN_WEST, 1)]) == .state(GamepadState(buttons: .west))
        )
        var xbox = pad([:], .xpad)
        #expect(outcome(&xbox, [(EV_KEY, BTN_X, 1)]) == .state(GamepadState(buttons: .west)))
        #expect(outcome(&xbox, [(EV_KEY, BTN_X, 0), (EV_KEY, BTN_Y, 1)]) == .state(GamepadState(buttons: .north)))
    }

    @Test("has sticks and triggers in any range")
    func ranges() {
        var sony = pad([ABS_X: (0, 255), ABS_Y: (0, 255), ABS_RX: (0, 255), ABS_RY: (0, 255), ABS_Z: (0, 1023)])
        #expect(
            outcome(&sony, [(EV_ABS, ABS_X, 255), (EV_ABS, ABS_Y, 0), (EV_ABS, ABS_Z, 1023)])
                == .state(GamepadState(leftStick: GamepadState.Stick(x: 32767, y: -32768), leftTrigger: 255))
        )
        // At rest such a stick is half a step off the middle.
        guard case .state(let rest) = outcome(&sony, [(EV_ABS, ABS_X, 128), (EV_ABS, ABS_Y, 128), (EV_ABS, ABS_Z, 0)])
        else {
            Issue.record("no state")
            return
        }
        #expect(abs(rest.leftStick.x) <= 129 && rest.leftTrigger == 0)
        #expect(DualSenseReport.input(rest, sequence: 0, time: 0)[1] == 128)
        // Values beyond the range, and a range without an extent, do no harm.
        var odd = pad([ABS_X: (0, 0), ABS_Y: (10, -10), ABS_RX: (Int32.min, Int32.max)])
        _ = outcome(&odd, [(EV_ABS, ABS_X, .max), (EV_ABS, ABS_Y, .min), (EV_ABS, ABS_RX, .min)])
    }

    @Test("of Bluetooth has its right stick and triggers on other axes")
    func bluetooth() {
        var pad = pad([
            ABS_X: (0, 65535), ABS_Y: (0, 65535), ABS_Z: (0, 65535), ABS_RZ: (0, 65535), ABS_GAS: (0, 1023),
            ABS_BRAKE: (0, 1023),
        ])
        #expect(
            outcome(
                &pad,
                [(EV_ABS, ABS_X, 32768), (EV_ABS, ABS_Z, 65535), (EV_ABS, ABS_RZ, 32768), (EV_ABS, ABS_GAS, 1023)]
            )
                == .state(GamepadState(rightStick: GamepadState.Stick(x: 32767), rightTrigger: 255))
        )
    }

    @Test("is read anew after lost events, and says nothing twice")
    func lost() {
        var pad = pad([ABS_HAT0X: (-1, 1)])
        var event = InputEvent(type: UInt16(EV_SYN), code: UInt16(SYN_DROPPED), value: 0)
        #expect(pad.take(event) == .lost)
        var keys = [UInt8](repeating: 0, count: 96)
        keys[Int(BTN_SOUTH) / 8] |= 1 << UInt8(BTN_SOUTH % 8)
        let state = GamepadState(buttons: [.south, .left])
        #expect(pad.reset(keys: keys, values: [UInt16(ABS_HAT0X): -1]) == state)
        event.code = UInt16(SYN_REPORT)
        #expect(pad.take(event) == .nothing)
        #expect(EvdevPad.isGamepad(keys: keys, axes: [3]) && !EvdevPad.isGamepad(keys: keys, axes: [1]))
        #expect(!EvdevPad.isGamepad(keys: [], axes: [3]))
    }
}
