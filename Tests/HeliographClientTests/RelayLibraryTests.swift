import Foundation
import HeliographAPI
import HeliographClient
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A relay's library, as a program has it")
struct RelayLibraryTests {
    private static func bytes(_ source: RelayLibrary.Bytes) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await some in source { bytes += some }
        return bytes
    }

    private static func items(
        _ library: RelayLibrary,
        _ search: RelayLibrary.Search
    ) async throws -> [RelayLibrary.Item] {
        var items: [RelayLibrary.Item] = []
        for try await item in library.items(search) { items.append(item) }
        return items
    }

    @Test("has what is recorded: to be found, saved, cut, labelled and deleted")
    func recorded() async throws {
        let scratch = try Scratch()
        let source = try SourceStream(SourceSettings(name: "x264", keyframes: [0, 20], pictures: 60))
        let folder = scratch.file("library").path
        let units = SampleStream.accessUnits(of: source)
        try await RunningRelay.run {
            ($0.library, $0.libraryFree) = (folder, 0)
        } _: { relay in
            let client = try RelayClient(relay.url(""))
            let id = try await relay.startSession().id
            let session = client.session(id)
            let before = try await session.startRecording()
            #expect(!before.isWriting && before.problem == nil)
            let link = try await LinkClient(greeting: relay)
            try await link.send(units, session: id)
            let state = try await eventually("a recording") {
                let state = try await session.startRecording()
                return state.isWriting ? state : nil
            }
            _ = try await eventually("all pictures") {
                try await relay.session(id)["counters"]?["relay"]?["pictures"] == 60 ? true : nil
            }
            try await session.stopRecording()

            let library = client.library
            var search = RelayLibrary.Search()
            let recording: String = try #require(state.id)
            search.recording = recording
            let found = try await Self.items(library, search)
            let item = try #require(found.first)
            #expect(found.count == 1 && item.state == .complete && item.device == "default" && item.number == 0)
            #expect(item.duration > .seconds(1) && item.width > 0 && item.codecs.count == 1 && item.gaps.isEmpty)
            #expect(item.start <= Date())
            search.until = item.start
            #expect(try await Self.items(library, search).isEmpty)

            #expect(try await Self.bytes(item.file()).count == Int(item.byteCount))
            // The client that made these is gone.
            let file = try await RelayClient(relay.url("")).library.item(item.id).file()
            #expect(try await Self.bytes(file).count == Int(item.byteCount))
            let clip = try await Self.bytes(item.clip(from: .milliseconds(500), to: .seconds(1)))
            let movie = try scratch.write(clip, to: "clip.mp4")
            let messages = try await inThread {
                try Tool.run("/usr/bin/ffmpeg", ["-v", "warning", "-i", movie.path, "-f", "null", "-"])
            }
            #expect(messages.isEmpty && !clip.isEmpty)
            let error = await #expect(throws: RelayError.self) { try await item.clip(from: .seconds(1000)) }
            #expect(error?.code == "out_of_range")

            #expect(try await item.pin().isPinned)
            #expect(try await item.label(["build": "17"]).labels == ["build": "17"])
            (search.until, search.label, search.isPinned) = (nil, ("build", "17"), true)
            #expect(try await Self.items(library, search).map(\.id) == [item.id])
            #expect(try await item.label(["build": ""]).labels.isEmpty)
            let nameless = await #expect(throws: RelayError.self) { try await item.label(["build=1": "7"]) }
            #expect(nameless?.kind == .badArgument)

            try await item.delete()
            let gone = await #expect(throws: RelayError.self) { try await library.item(item.id) }
            #expect(gone?.code == "unknown_item")
            try await item.restore()
            #expect(try await library.item(item.id).id == item.id)
        }
    }

    @Test("that is not there says so")
    func none() async throws {
        try await RunningRelay.run { relay in
            let client = try RelayClient(relay.url(""))
            let error = await #expect(throws: RelayError.self) { try await Self.items(client.library, .init()) }
            #expect(error?.code == "library_unavailable")
            let session = client.session(try await relay.startSession().id)
            let refused = await #expect(throws: RelayError.self) { try await session.startRecording() }
            #expect(refused?.code == "library_unavailable")
        }
    }
}
