import Media

/// The body of an INPUT packet, big-endian:
///
///      0 | id, u32
///      4 | geometry, u32; 0 for whatever it is now
///      8 | steps, u16: n, at most 4096
///     10 | flags, u16: 1 places beyond the edges mean the nearest ones
///     12 | n steps, each a kind, u8, and its fields
///
/// Coordinates are doubles (IEEE 754) from -65536 to 65536, key and button states are 0 for up and 1 for down:
///
///      1 pointer      | x, y
///      2 pointer by   | dx, dy
///      3 button       | code, u16; state, u8
///      4 scroll       | dx, dy
///      5 touch        | id, u8; phase, u8: 1 down, 2 move, 3 up, 4 cancel; x, y
///      6 key          | keysym, u32, not 0; state, u8
///      7 text         | length in bytes, u32; UTF-8
///      8 pause        | ms, u16, at most 10,000
///      9 release all  |
///     10 resize       | width, u16; height, u16: 16 to 8192
enum InputOrderBody {
    private enum Kind: UInt8 {
        case pointer = 1
        case pointerBy, button, scroll, touch, key, text, pause, releaseAll, resize
    }

    static let fixedByteCount = 12
    private static let takesNearest: UInt16 = 1
    private static let coordinates = -65_536.0...65_536.0
    private static let buttons: ClosedRange<UInt16> = 0x110...0x117
    private static let longestPause: UInt16 = 10_000
    private static let sides: ClosedRange<UInt16> = 16...8192

    static func append(_ order: InputOrder, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: order.id)
        bytes.append(bigEndian: order.geometry)
        bytes.append(bigEndian: UInt16(clamping: order.steps.count))
        bytes.append(bigEndian: order.takesNearest ? takesNearest : 0)
        for step in order.steps { append(step, to: &bytes) }
    }

    private static func append(_ step: InputStep, to bytes: inout [UInt8]) {
        switch step {
        case .pointer(let x, let y): append(.pointer, x, y, to: &bytes)
        case .pointerBy(let dx, let dy): append(.pointerBy, dx, dy, to: &bytes)
        case .button(let code, let isDown):
            bytes.append(Kind.button.rawValue)
            bytes.append(bigEndian: code)
            bytes.append(isDown ? 1 : 0)
        case .scroll(let dx, let dy): append(.scroll, dx, dy, to: &bytes)
        case .touch(let id, let phase, let x, let y):
            bytes += [Kind.touch.rawValue, id, phase.rawValue]
            bytes.append(bigEndian: x.bitPattern)
            bytes.append(bigEndian: y.bitPattern)
        case .key(let keysym, let isDown):
            bytes.append(Kind.key.rawValue)
            bytes.append(bigEndian: keysym)
            bytes.append(isDown ? 1 : 0)
        case .text(let text):
            bytes.append(Kind.text.rawValue)
            bytes.append(bigEndian: UInt32(clamping: text.utf8.count))
            bytes += text.utf8
        case .pause(let milliseconds):
            bytes.append(Kind.pause.rawValue)
            bytes.append(bigEndian: milliseconds)
        case .releaseAll: bytes.append(Kind.releaseAll.rawValue)
        case .resize(let width, let height):
            bytes.append(Kind.resize.rawValue)
            bytes.append(bigEndian: width)
            bytes.append(bigEndian: height)
        }
    }

    private static func append(_ kind: Kind, _ x: Double, _ y: Double, to bytes: inout [UInt8]) {
        bytes.append(kind.rawValue)
        bytes.append(bigEndian: x.bitPattern)
        bytes.append(bigEndian: y.bitPattern)
    }

    /// The size of a step's bytes.
    static func byteCount(of step: InputStep) -> Int {
        switch step {
        case .pointer, .pointerBy, .scroll: 17
        case .touch: 19
        case .button: 4
        case .key: 6
        case .text(let text): 5 &+ text.utf8.count
        case .pause: 3
        case .releaseAll: 1
        case .resize: 5
        }
    }

    /// Which value of a step is out of range, for people; `nil` if all are valid.
    static func problem(of step: InputStep) -> String? {
        switch step {
        case .pointer(let x, let y), .pointerBy(let x, let y), .scroll(let x, let y), .touch(_, _, let x, let y):
            // A comparison with a NaN is false.
            coordinates.contains(x) && coordinates.contains(y) ? nil : "the coordinates are \(x), \(y)"
        case .button(let code, _): buttons.contains(code) ? nil : "the button is \(code)"
        case .key(let keysym, _): keysym != 0 ? nil : "the keysym is 0"
        case .text(let text):
            text.utf8.count <= InputOrder.maximumText ? nil : "the text has \(text.utf8.count) bytes"
        case .pause(let milliseconds): milliseconds <= longestPause ? nil : "the pause is \(milliseconds) ms"
        case .releaseAll: nil
        case .resize(let width, let height):
            sides.contains(width) && sides.contains(height) ? nil : "the size is \(width)x\(height)"
        }
    }

    static func parse(_ body: ByteReader) throws(WireError) -> InputOrder {
        var rest = body
        guard let id = rest.u32(), let geometry = rest.u32(), let count = rest.u16(), let flags = rest.u16(),
            count <= InputOrder.maximumSteps
        else {
            throw .malformedBody(type: .input, reason: "\(body.count) bytes, or too many steps")
        }
        var steps: [InputStep] = []
        while steps.count < count {
            guard let step = step(&rest) else {
                throw .malformedBody(type: .input, reason: "step \(steps.count) of \(count) is not readable")
            }
            if let problem = problem(of: step) {
                throw .malformedBody(type: .input, reason: "step \(steps.count): \(problem)")
            }
            steps.append(step)
        }
        guard rest.count == 0 else {
            throw .malformedBody(type: .input, reason: "\(rest.count) bytes after the last step")
        }
        let takesNearest = flags & Self.takesNearest != 0
        return InputOrder(id: id, geometry: geometry, takesNearest: takesNearest, steps: steps)
    }

    private static func step(_ rest: inout ByteReader) -> InputStep? {
        guard let kind = rest.u8().flatMap(Kind.init) else { return nil }
        switch kind {
        case .pointer: return pair(&rest).map { .pointer(x: $0, y: $1) }
        case .pointerBy: return pair(&rest).map { .pointerBy(dx: $0, dy: $1) }
        case .button:
            guard let code = rest.u16(), let isDown = flag(&rest) else { return nil }
            return .button(code, isDown: isDown)
        case .scroll: return pair(&rest).map { .scroll(dx: $0, dy: $1) }
        case .touch:
            guard let id = rest.u8(), let phase = rest.u8().flatMap(InputStep.TouchPhase.init),
                let (x, y) = pair(&rest)
            else { return nil }
            return .touch(id: id, phase: phase, x: x, y: y)
        case .key:
            guard let keysym = rest.u32(), let isDown = flag(&rest) else { return nil }
            return .key(keysym: keysym, isDown: isDown)
        case .text:
            guard let length = rest.u32(), let bytes = rest.take(Int(clamping: length)),
                let text = String(validating: bytes.bytes, as: UTF8.self)
            else { return nil }
            return .text(text)
        case .pause: return rest.u16().map { .pause(milliseconds: $0) }
        case .releaseAll: return .releaseAll
        case .resize:
            guard let width = rest.u16(), let height = rest.u16() else { return nil }
            return .resize(width: width, height: height)
        }
    }

    private static func pair(_ rest: inout ByteReader) -> (Double, Double)? {
        guard let x = rest.u64(), let y = rest.u64() else { return nil }
        return (Double(bitPattern: x), Double(bitPattern: y))
    }

    private static func flag(_ rest: inout ByteReader) -> Bool? {
        switch rest.u8() {
        case 0: false
        case 1: true
        default: nil
        }
    }
}

/// The body of an INPUT_DONE packet, big-endian:
///
///      0 | id, u32
///      4 | refusal, u8: 0 for none
///      5 | reserved, u8: 0
///      6 | step, u16; 0 without a refusal
///      8 | began, u64: monotonic ns; 0 with a refusal
///     16 | at, u64: monotonic ns; 0 with a refusal
///     24 | the refusal's detail to the end of the body, UTF-8
enum InputReportBody {
    private static let fixedByteCount = 24

    static func append(_ report: InputReport, to bytes: inout [UInt8]) {
        let (refusal, step, began, at, detail): (UInt8, UInt16, UInt64, UInt64, String) =
            switch report.outcome {
            case .done(let began, let at): (0, 0, began, at, "")
            case .refused(let refusal, let step, let detail): (refusal.rawValue, step, 0, 0, detail)
            }
        bytes.append(bigEndian: report.id)
        bytes += [refusal, 0]
        bytes.append(bigEndian: step)
        bytes.append(bigEndian: began)
        bytes.append(bigEndian: at)
        bytes += detail.utf8
    }

    static func parse(_ body: ByteReader) throws(WireError) -> InputReport {
        var rest = body
        guard let id = rest.u32(), let refusal = rest.u8(), rest.u8() != nil, let step = rest.u16(),
            let began = rest.u64(), let at = rest.u64()
        else {
            throw .malformedBody(type: .inputDone, reason: "\(body.count) bytes, at least \(fixedByteCount) expected")
        }
        guard refusal != 0 else {
            guard rest.count == 0 else {
                throw .malformedBody(type: .inputDone, reason: "\(rest.count) bytes after the times")
            }
            return InputReport(id: id, outcome: .done(began: began, at: at))
        }
        guard let known = InputReport.Refusal(rawValue: refusal),
            let detail = String(validating: rest.bytes, as: UTF8.self)
        else {
            throw .malformedBody(type: .inputDone, reason: "refusal \(refusal)")
        }
        return InputReport(id: id, outcome: .refused(known, step: step, detail: detail))
    }
}
