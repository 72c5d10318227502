import CInput
import CaptureAgent
import Gamepads
import Media
import Testing
import Wire

/// A kernel that records what it gets. No test has the node.
private final class RecordedKernel: KernelNode {
    let descriptor: Int32 = -1
    private(set) var numbers: [(UInt, Int32)] = []
    private(set) var requests: [(UInt, [UInt8])] = []
    private(set) var writes: [[InputEvent]] = []
    private(set) var closed = 0
    var failing = false

    func write(_ bytes: [UInt8]) throws(InputFailure) {
        if failing { throw .lost("gone") }
        var bytes = bytes
        writes.append(InputEvent.take(from: &bytes))
        #expect(bytes.isEmpty, "The kernel takes whole events.")
    }

    func read(_ count: Int) throws(InputFailure) -> [UInt8] { [] }

    func control(_ request: UInt, _ number: Int32) throws(InputFailure) {
        if failing { throw .lost("refused") }
        numbers.append((request, number))
    }

    func control(_ request: UInt, _ bytes: [UInt8]) throws(InputFailure) -> [UInt8] {
        requests.append((request, bytes))
        return bytes
    }

    func close() { closed += 1 }

    func codes(_ request: UInt) -> Set<Int32> { Set(numbers.filter { $0.0 == request }.map { $0.1 }) }

    /// The axes by their codes, with their ranges.
    var axes: [Int32: ClosedRange<Int32>] {
        let axes = requests.filter { $0.0 == cinput_axis_setup }.map { structure(uinput_abs_setup.self, of: $0.1) }
        return Dictionary(uniqueKeysWithValues: axes.map { (Int32($0.code), $0.absinfo.minimum...$0.absinfo.maximum) })
    }

    var name: String? {
        guard let bytes = requests.last(where: { $0.0 == cinput_device_setup })?.1 else { return nil }
        let setup = structure(uinput_setup.self, of: bytes)
        return withUnsafeBytes(of: setup.name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

/// Reads a structure of the kernel's headers from bytes.
private func structure<Structure: BitwiseCopyable>(_: Structure.Type, of bytes: [UInt8]) -> Structure {
    let padded = bytes + [UInt8](repeating: 0, count: max(0, MemoryLayout<Structure>.size - bytes.count))
    return padded.withUnsafeBytes { $0.loadUnaligned(as: Structure.self) }
}

private func place(_ x: Double, _ y: Double) -> InputPlace { InputPlace(x: x, y: y, width: 1280, height: 720) }

private func key(_ code: Int32, _ value: Int32) -> InputEvent { InputEvent(EV_KEY, code, value) }

private func axis(_ code: Int32, _ value: Int32) -> InputEvent { InputEvent(EV_ABS, code, value) }

private func motion(_ code: Int32, _ value: Int32) -> InputEvent { InputEvent(EV_REL, code, value) }

@Suite("Input by uinput")
struct UinputTests {
    // MARK: - Pointer

    @Test("a place is a fraction of the axes' range, of which no value is outside")
    func places() {
        let pointer = UinputPointer()
        #expect(pointer.move(to: place(0, 0.5)) == [axis(ABS_X, 0), axis(ABS_Y, 32768), .report])
        #expect(pointer.move(to: place(0.25, 1)) == [axis(ABS_X, 16384), axis(ABS_Y, 65535), .report])
        #expect(pointer.move(to: place(-1, .infinity)) == [axis(ABS_X, 0), axis(ABS_Y, 65535), .report])
        #expect(pointer.move(to: place(.nan, 1 - 1e-12)) == [axis(ABS_X, 65535), axis(ABS_Y, 65535), .report])
    }

    @Test("relative motion keeps the parts of a pixel")
    func motions() {
        var pointer = UinputPointer()
        #expect(pointer.move(dx: 0.4, dy: -0.4).isEmpty)
        #expect(pointer.move(dx: 0.4, dy: -0.4).isEmpty)
        #expect(pointer.move(dx: 0.4, dy: -2.4) == [motion(REL_X, 1), motion(REL_Y, -3), .report])
        #expect(pointer.move(dx: 0, dy: 0).isEmpty)
    }

    @Test("the wheel turns by 120ths, and by a notch after 120 of them; down is negative for the kernel")
    func wheel() {
        var pointer = UinputPointer()
        #expect(pointer.scroll(dx: 0, dy: 50) == [motion(REL_WHEEL_HI_RES, -50), .report])
        #expect(pointer.scroll(dx: 0, dy: 50) == [motion(REL_WHEEL_HI_RES, -50), .report])
        #expect(
            pointer.scroll(dx: 0, dy: 50) == [motion(REL_WHEEL_HI_RES, -50), motion(REL_WHEEL, -1), .report]
        )
        // 30 units are left.
        #expect(
            pointer.scroll(dx: 0, dy: 210) == [motion(REL_WHEEL_HI_RES, -210), motion(REL_WHEEL, -2), .report]
        )
        #expect(
            pointer.scroll(dx: -240, dy: 0) == [motion(REL_HWHEEL_HI_RES, -240), motion(REL_HWHEEL, -2), .report]
        )
        #expect(pointer.scroll(dx: 0.5, dy: 0).isEmpty)
        #expect(pointer.scroll(dx: 0.5, dy: 0) == [motion(REL_HWHEEL_HI_RES, 1), .report])
    }

    // MARK: - Touch

    @Test("a finger has a slot and a contact of its own, and programs for one finger see the first")
    func touch() throws {
        var touches = UinputTouch()
        #expect(
            try touches.touch(7, .down, at: place(0.5, 0.5)) == [
                axis(ABS_MT_SLOT, 0), axis(ABS_MT_TRACKING_ID, 0), axis(ABS_MT_TOOL_TYPE, Int32(MT_TOOL_FINGER)),
                key(BTN_TOUCH, 1), axis(ABS_MT_POSITION_X, 32768), axis(ABS_MT_POSITION_Y, 32768),
                axis(ABS_X, 32768), axis(ABS_Y, 32768), .report,
            ]
        )
        #expect(
            try touches.touch(3, .down, at: place(0.25, 0)) == [
                axis(ABS_MT_SLOT, 1), axis(ABS_MT_TRACKING_ID, 1), axis(ABS_MT_TOOL_TYPE, Int32(MT_TOOL_FINGER)),
                axis(ABS_MT_POSITION_X, 16384), axis(ABS_MT_POSITION_Y, 0), .report,
            ]
        )
        #expect(
            try touches.touch(3, .move, at: place(0, 0)) == [
                axis(ABS_MT_SLOT, 1), axis(ABS_MT_POSITION_X, 0), axis(ABS_MT_POSITION_Y, 0), .report,
            ]
        )
        // The first finger goes up; the other one is now the one that programs for one finger see.
        #expect(
            try touches.touch(7, .up, at: place(0, 0)) == [axis(ABS_MT_SLOT, 0), axis(ABS_MT_TRACKING_ID, -1), .report]
        )
        #expect(
            try touches.touch(3, .move, at: place(0, 0.5)) == [
                axis(ABS_MT_SLOT, 1), axis(ABS_MT_POSITION_X, 0), axis(ABS_MT_POSITION_Y, 32768), axis(ABS_X, 0),
                axis(ABS_Y, 32768), .report,
            ]
        )
        // A third finger takes the free slot, with a new contact.
        let third = try touches.touch(9, .down, at: place(0, 0))
        #expect(Array(third.prefix(2)) == [axis(ABS_MT_SLOT, 0), axis(ABS_MT_TRACKING_ID, 2)])
        #expect(!third.contains(key(BTN_TOUCH, 1)))
        _ = try touches.touch(9, .up, at: place(0, 0))
        #expect(
            try touches.touch(3, .cancel, at: place(0, 0)) == [
                axis(ABS_MT_SLOT, 1), axis(ABS_MT_TOOL_TYPE, Int32(MT_TOOL_PALM)), .report,
                axis(ABS_MT_SLOT, 1), axis(ABS_MT_TRACKING_ID, -1), key(BTN_TOUCH, 0), .report,
            ]
        )
    }

    @Test("presses of what is down and releases of what is not do nothing; there are ten fingers at most")
    func touchLimits() throws {
        var touches = UinputTouch()
        for phase in [InputStep.TouchPhase.up, .move, .cancel] {
            #expect(try touches.touch(1, phase, at: place(0, 0)).isEmpty)
        }
        for finger in 0..<10 {
            #expect(try !touches.touch(UInt8(finger), .down, at: place(0, 0)).isEmpty)
            #expect(try touches.touch(UInt8(finger), .down, at: place(0, 0)).isEmpty)
        }
        #expect(throws: InputFailure.unsupported("The touch screen knows 10 fingers at a time.")) {
            _ = try touches.touch(10, .down, at: place(0, 0))
        }
        _ = try touches.touch(4, .up, at: place(0, 0))
        #expect(try touches.touch(10, .down, at: place(0, 0)).first == axis(ABS_MT_SLOT, 4))
    }

    @Test("contacts begin again at 0 after the largest id")
    func contacts() throws {
        var touches = UinputTouch()
        for contact in 0...65535 {
            let events = try touches.touch(0, .down, at: place(0, 0))
            if events[1] != axis(ABS_MT_TRACKING_ID, Int32(contact)) {
                Issue.record("\(contact): \(events)")
                break
            }
            _ = try touches.touch(0, .up, at: place(0, 0))
        }
        #expect(try touches.touch(0, .down, at: place(0, 0))[1] == axis(ABS_MT_TRACKING_ID, 0))
    }

    // MARK: - Devices

    /// A backend of recorded devices, in the order in which they are made.
    private final class Scene {
        private(set) var kernels: [RecordedKernel] = []
        private(set) var input: UinputInput!
        var failing = false

        init() throws {
            input = try UinputInput(keymap: DesktopKeymap.ofEnvironment(), settling: 0) {
                [unowned self] () throws(InputFailure) in
                let kernel = RecordedKernel()
                kernel.failing = failing
                kernels.append(kernel)
                return kernel
            }
        }

        /// The events of all devices since the last call.
        func take() -> [[InputEvent]] {
            let new = zip(kernels, seen + [Int](repeating: 0, count: kernels.count)).flatMap {
                Array($0.writes.dropFirst($1))
            }
            seen = kernels.map(\.writes.count)
            return new
        }

        private var seen: [Int] = []
    }

    @Test("devices are made when they are needed, with the codes and ranges of the kernel's headers")
    func devices() throws {
        let scene = try Scene()
        #expect(scene.kernels.isEmpty)
        try scene.input.prepare(.keyboard)
        try scene.input.prepare(.keyboard)
        let keyboard = try #require(scene.kernels.first)
        #expect(scene.kernels.count == 1 && keyboard.name == "Heliograph keyboard")
        #expect(keyboard.codes(cinput_set_event_bit) == [EV_KEY])
        // What udev takes for a keyboard.
        #expect(keyboard.codes(cinput_set_key_bit).isSuperset(of: Array(KEY_ESC...KEY_D)))
        #expect(!keyboard.codes(cinput_set_key_bit).contains(BTN_LEFT))
        #expect(keyboard.numbers.last?.0 == cinput_device_create)

        try scene.input.prepare(.pointer)
        let (pointer, mouse) = (scene.kernels[1], scene.kernels[2])
        #expect(pointer.codes(cinput_set_event_bit) == [EV_KEY, EV_REL, EV_ABS])
        #expect(pointer.codes(cinput_set_key_bit).contains(BTN_LEFT))
        #expect(
            pointer.codes(cinput_set_motion_bit) == [REL_WHEEL, REL_HWHEEL, REL_WHEEL_HI_RES, REL_HWHEEL_HI_RES]
        )
        #expect(pointer.axes == [ABS_X: 0...65535, ABS_Y: 0...65535])
        #expect(mouse.codes(cinput_set_motion_bit) == [REL_X, REL_Y] && mouse.axes.isEmpty)

        try scene.input.prepare(.touch)
        let screen = scene.kernels[3]
        #expect(screen.codes(cinput_set_property_bit) == [INPUT_PROP_DIRECT])
        #expect(screen.codes(cinput_set_key_bit) == [BTN_TOUCH])
        #expect(screen.axes[ABS_MT_SLOT] == 0...9 && screen.axes[ABS_MT_TRACKING_ID] == 0...65535)
        #expect(screen.axes[ABS_MT_POSITION_X] == 0...65535 && screen.axes[ABS_MT_POSITION_Y] == 0...65535)
        #expect(screen.axes[ABS_X] == 0...65535 && screen.axes[ABS_Y] == 0...65535)
        #expect(Set(scene.kernels.map(\.name)).count == 4)

        scene.input.close()
        #expect(scene.kernels.allSatisfy { $0.closed == 1 })
    }

    @Test("a node that cannot be made is closed with the others")
    func failure() throws {
        let scene = try Scene()
        scene.failing = true
        #expect(throws: InputFailure.lost("refused")) { try scene.input.prepare(.pointer) }
        scene.input.close()
        #expect(scene.kernels.map(\.closed) == [1])
    }

    @Test("buttons are the kernel's; others are refused")
    func buttons() throws {
        let scene = try Scene()
        try scene.input.prepare(.pointer)
        try scene.input.setButton(0x110, isDown: true)
        try scene.input.setButton(0x117, isDown: false)
        #expect(scene.take() == [[key(BTN_LEFT, 1), .report], [key(BTN_TASK, 0), .report]])
        for code: UInt16 in [0x10F, 0x118, 0] {
            #expect(throws: InputFailure.self) { try scene.input.setButton(code, isDown: true) }
        }
        #expect(scene.take().isEmpty)
    }

    // MARK: - Keys

    @Test("text goes by the keys of the layout, with Shift around capital letters and a report after each key")
    func text() throws {
        let scene = try Scene()
        try scene.input.prepare(.keyboard)
        _ = try scene.input.type("aB\n", stop: Event())
        func tap(_ code: Int32) -> [InputEvent] { [key(code, 1), .report, key(code, 0), .report] }
        #expect(
            scene.take() == [
                tap(KEY_A), [key(KEY_LEFTSHIFT, 1), .report] + tap(KEY_B) + [key(KEY_LEFTSHIFT, 0), .report],
                tap(KEY_ENTER),
            ]
        )
    }

    @Test("a chord holds its keys, and a modifier that is held is not pressed again")
    func chord() throws {
        let scene = try Scene()
        try scene.input.prepare(.keyboard)
        let (shift, letter): (UInt32, UInt32) = (0xFFE1, 0x41)
        try scene.input.setKey(shift, isDown: true)
        try scene.input.setKey(letter, isDown: true)
        try scene.input.setKey(letter, isDown: true)
        #expect(scene.take() == [[key(KEY_LEFTSHIFT, 1), .report], [key(KEY_A, 1), .report]])
        try scene.input.setKey(letter, isDown: false)
        try scene.input.setKey(shift, isDown: false)
        try scene.input.setKey(shift, isDown: false)
        #expect(scene.take() == [[key(KEY_A, 0), .report], [key(KEY_LEFTSHIFT, 0), .report]])
    }

    @Test("a character that the layout lacks is refused by name, before the first one is typed")
    func foreign() throws {
        let scene = try Scene()
        try scene.input.prepare(.keyboard)
        let stop = try Event()
        do throws(InputFailure) {
            _ = try scene.input.type("abcЖ", stop: stop)
            Issue.record("Ж has no key")
        } catch {
            guard case .unsupported(let detail) = error else { throw error }
            #expect(detail.contains("'Ж' (U+0416)") && detail.contains("XKB_DEFAULT_LAYOUT"))
        }
        #expect(scene.take().isEmpty)
        // Every printable character of ASCII has a key.
        _ = try scene.input.type(String((0x20...0x7E).map { Character(Unicode.Scalar($0)) }), stop: Event())
        #expect(scene.take().count == 95)
    }

    @Test("without a keymap there is no keyboard to make")
    func noKeymap() {
        #expect(throws: InputFailure.self) { try UinputInput(keymap: nil) }
    }
}

@Suite("Keys of a desktop's layout")
struct DesktopKeysTests {
    private static let shifted = DesktopKey.codes([42, 30])

    @Test("a modifier stays down while another key needs it")
    func sharedModifier() {
        var keys = DesktopKeys()
        #expect(keys.press(0x41, by: Self.shifted) == [.code(42, isDown: true), .code(30, isDown: true)])
        #expect(keys.press(0x41, by: Self.shifted).isEmpty)
        // Shift is down, so only the letter goes down and up.
        #expect(keys.tap(.codes([42, 48])) == [.code(48, isDown: true), .code(48, isDown: false)])
        #expect(keys.press(0xFFE1, by: .codes([42])).isEmpty)
        #expect(keys.release(0x41) == [.code(30, isDown: false), .code(42, isDown: false)])
        #expect(keys.release(0x41).isEmpty)
    }

    @Test("without a known layout, ASCII and function keys go by keysym, and all else is refused by name")
    func unknownLayout() throws {
        for keysym: UInt32 in [0x20, 0x7E, 0xFF0D, 0xFFE1] {
            #expect(try DesktopKey.making(keysym, with: nil, of: "Mutter") == .keysym(keysym))
        }
        #expect(throws: InputFailure.self) { try DesktopKey.making(0xE9, with: nil, of: "Mutter") }
        do throws(InputFailure) {
            _ = try DesktopKey.making(0x0100_0416, with: nil, of: "Mutter")
        } catch {
            guard case .unsupported(let detail) = error else { throw error }
            #expect(detail.hasPrefix("Mutter's keyboard layout is unknown") && detail.contains("'Ж' (U+0416)"))
        }
    }

    @Test("an American layout has all of ASCII")
    func american() throws {
        let keymap = try #require(DesktopKeymap.ofEnvironment())
        #expect(keymap.codes(for: 0x61) == [UInt32(KEY_A)])
        #expect(keymap.codes(for: 0x21) == [UInt32(KEY_LEFTSHIFT), UInt32(KEY_1)])
        #expect(keymap.codes(for: 0xFF1B) == [UInt32(KEY_ESC)])
        #expect(keymap.codes(for: 0x0100_0416) == nil)
        #expect(keymap.way(to: 0x61) == .codes([UInt32(KEY_A)]))
        for keysym: UInt32 in 0x20...0x7E { #expect(keymap.codes(for: keysym) != nil) }
    }
}

@Suite("The choice of a backend")
struct InputBackendChoiceTests {
    private static let monitor = AgentConfiguration.Source.auto(.monitor, cursor: .embedded)

    @Test("off is off, whatever the desktop offers, and says so")
    func off() {
        let choice = InputBackendChoice(Self.monitor, .off)
        #expect(choice.capabilities().backend == "none")
        #expect(choice.capabilities().problem == "Acting is off here: the device's input is off.")
        #expect(!choice.isPortal)
        #expect(throws: InputFailure.self) { try choice.open() }
    }

    @Test("only a primary agent asks the portal, and only for a screen")
    func portal() {
        #expect(InputBackendChoice(Self.monitor, .portal).isPortal)
        #expect(InputBackendChoice(.node("x"), .portal).isPortal)
        let standby = InputBackendChoice(Self.monitor, .portal, role: .standby)
        #expect(!standby.isPortal)
        #expect(standby.capabilities().problem?.contains("standby") == true)
        for source: AgentConfiguration.Source in [
            .auto(.window, cursor: .hidden), .testPattern(PictureSize(width: 64, height: 64), fps: 1),
        ] {
            #expect(!InputBackendChoice(source, .portal).isPortal)
            #expect(InputBackendChoice(source, .portal).capabilities().backend == "none")
        }
    }

    @Test("uinput is never used unless it is chosen, and says what is missing")
    func uinput() {
        #expect(InputBackendChoice(.node("x")).capabilities().problem?.contains("PipeWire node") == true)
        let chosen = InputBackendChoice(.node("x"), .uinput).capabilities()
        // The node may be missing here, or may be used.
        if let problem = chosen.problem {
            #expect(chosen.backend == "none" && problem.contains("/dev/uinput"))
        } else {
            #expect(chosen.backend == "uinput" && chosen.touch && !chosen.anyCharacter)
        }
    }
}
