import HeliographClient
import TestSupport
import Testing

@Suite("Messages of a relay")
struct LiveMessageTests {
    private static let format = PictureFormat(codec: "avc3.42C01F", width: 640, height: 360, parameterSets: [1])

    @Test("are read, or left out, whatever bytes they have")
    func hostile() {
        var random = SeededGenerator(seed: 26)
        for _ in 0..<20_000 {
            var bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if !bytes.isEmpty { bytes[0] = UInt8.random(in: 0...4, using: &random) }
            let known = Bool.random(using: &random) ? Self.format : nil
            if case .unit(let unit) = LiveMessage(binary: bytes, format: known, geometry: 7, received: 1) {
                #expect(!unit.bytes.isEmpty && bytes.suffix(unit.bytes.count).elementsEqual(unit.bytes))
            }
        }
    }

    @Test(
        "that are events of no known form reach the program as they are",
        arguments: [
            #"{"type":"later","x":[1]}"#, #"{"type":"hello"}"#, #"{"type":"feed","feed":7}"#,
            #"{"type":"resync","dropped":"many"}"#,
        ]
    )
    func others(_ text: String) {
        guard case .event(.other(_, text)) = LiveMessage(text: Array(text.utf8)) else {
            Issue.record("\(LiveMessage(text: Array(text.utf8)))")
            return
        }
    }

    @Test("may lie about numbers", arguments: ["9223372036854775807", "-5"])
    func numbers(_ number: String) {
        guard
            case .event(.dropped(let count)) = LiveMessage(text: Array(#"{"type":"resync","dropped":\#(number)}"#.utf8))
        else {
            Issue.record("it is not read")
            return
        }
        #expect((0...(1 << 30)).contains(count))
    }

    @Test("that are not JSON, or have no type, are left out", arguments: ["", "{", "[1]", #"{"type":1}"#, "\u{0}"])
    func broken(_ text: String) {
        guard case .unknown = LiveMessage(text: Array(text.utf8)) else {
            Issue.record("\(LiveMessage(text: Array(text.utf8)))")
            return
        }
    }
}
