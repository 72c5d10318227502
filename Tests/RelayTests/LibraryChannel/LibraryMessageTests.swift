import Relay
import Testing

@Suite("Messages of the library's channel")
struct LibraryMessageTests {
    @Test("what clients say")
    func parsing() throws {
        let messages: [(String, LibraryMessage)] = [
            (#"{"type":"hello","version":1}"#, .hello(version: 1, name: nil)),
            (#"{"type":"hello","version":-7,"name":"kitchen"}"#, .hello(version: -7, name: "kitchen")),
            (#"{"type":"play"}"#, .command(.resume)), (#"{"type":"resume"}"#, .command(.resume)),
            (#"{"type":"play","items":[3,1]}"#, .command(.play(items: [3, 1], place: 0, position: 0))),
            (
                #"{"type":"play","items":[3],"place":2,"position":1.5}"#,
                .command(.play(items: [3], place: 2, position: 1_500_000))
            ),
            (#"{"type":"pause"}"#, .command(.pause)), (#"{"type":"next"}"#, .command(.next)),
            (#"{"type":"previous"}"#, .command(.previous)),
            (#"{"type":"seek","position":7}"#, .command(.seek(7_000_000))),
            (#"{"type":"setVolume","volume":0.25}"#, .command(.setVolume(0.25))),
            (#"{"type":"toggleShuffle"}"#, .command(.toggleShuffle)),
            (#"{"type":"refreshDB","x":{}}"#, .command(.refreshDB)), (#"{"type":"dance"}"#, .unknown("dance")),
        ]
        for (text, message) in messages { #expect(try LibraryMessage(parsing: text) == message, "\(text)") }
    }

    @Test(
        "what is none of it",
        arguments: [
            "", "[]", "{}", #"{"type":1}"#, #"{"type":"hello"}"#, #"{"type":"hello","version":"1"}"#,
            #"{"type":"hello","version":1,"name":""}"#, #"{"type":"hello","version":1,"name":"a\nb"}"#,
            #"{"type":"play","items":[]}"#, #"{"type":"play","items":["1"]}"#, #"{"type":"play","items":[1.5]}"#,
            #"{"type":"play","items":[99999999999999999999]}"#, #"{"type":"play","items":[1],"place":-1}"#,
            #"{"type":"play","items":[1],"position":-1}"#, #"{"type":"play","items":[1],"position":1e300}"#,
            #"{"type":"seek"}"#, #"{"type":"seek","position":"1"}"#, #"{"type":"setVolume","volume":1.01}"#,
            #"{"type":"setVolume"}"#, #"{"type":"\#(String(repeating: "a", count: 65))"}"#,
        ]
    )
    func malformed(_ text: String) {
        #expect(throws: LibraryMessage.Malformed.self) { try LibraryMessage(parsing: text) }
    }
}
