import Foundation
import HeliographAPI
import NIOHTTP1
import Packaging
import Relay
import RelayTestSupport
import TestSupport
import Testing

@Suite("Music and movies in the library")
struct MusicTests {
    /// Makes a file of 14 s with a cover, which was there before.
    private static func make(_ file: URL, _ picture: URL) throws {
        try MusicSource.makeCover(picture)
        try MusicSource.make(file, seconds: 14, tags: ["title": "Song", "artist": "Ann"], cover: picture)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)],
            ofItemAtPath: file.path
        )
    }

    private static func importedItem(_ relay: RunningRelay) async throws -> JSONValue {
        try await eventually("the import") {
            guard case .array(let items)? = try await relay.get("/v1/library?text=ann").json["items"] else {
                return nil as JSONValue?
            }
            return items.first
        }
    }

    @Test("is served as a file, and tells that it has neither HLS nor clips, if it is a movie")
    func movie() async throws {
        let scratch = try Scratch()
        let file = scratch.file("library/imports/film.mp4")
        try await inThread { try MovieSource.make(file, tags: ["artist": "Ann"]) }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1)],
            ofItemAtPath: file.path
        )
        let (bytes, library) = ([UInt8](try Data(contentsOf: file)), scratch.file("library").path)
        try await RunningRelay.run {
            $0.library = library
        } _: { relay in
            let item = try await Self.importedItem(relay)
            #expect(item["name"] == "film" && item["seconds"] == 2 && item["width"] == 320, "\(item.text)")
            guard case .integer(let id)? = item["id"] else { return }
            let whole = try await relay.get("/v1/library/\(id)/file")
            #expect(whole.body == bytes && whole.headers["content-type"] == ["video/mp4"])
            #expect(try await relay.get("/v1/library/\(id)/clip?start=1").code == "out_of_range")
            for path in ["index.m3u8", "video/index.m3u8", "video/init.mp4", "video/0/0.m4s"] {
                let answer = try await relay.get("/v1/library/\(id)/hls/\(path)")
                #expect(
                    answer.code == "unknown_item" && answer.text.contains("play its file"),
                    "\(path): \(answer.text)"
                )
            }
        }
    }

    @Test("is listed with its tags, and is served as a file, as HLS and with its cover")
    func served() async throws {
        let scratch = try Scratch()
        let (picture, file) = (scratch.file("cover.jpg"), scratch.file("library/imports/song.mp3"))
        try await inThread { try Self.make(file, picture) }
        let bytes = [UInt8](try Data(contentsOf: file))
        let library = scratch.file("library").path
        try await RunningRelay.run {
            $0.library = library
        } _: { relay in
            let item = try await Self.importedItem(relay)
            #expect(item["device"] == "imports" && item["name"] == "Song" && item["labels"]?["artist"] == "Ann")
            #expect(item["seconds"] == 14 && item["width"] == 0 && item["thumbnail"] == true, "\(item.text)")
            guard case .integer(let id)? = item["id"] else { return }
            let whole = try await relay.get("/v1/library/\(id)/file")
            #expect(whole.body == bytes && whole.headers["content-type"] == ["audio/mpeg"])
            let cover = try await relay.get("/v1/library/\(id)/thumbnail.jpg")
            #expect(try cover.body == [UInt8](Data(contentsOf: picture)))
            #expect(try await relay.get("/v1/library/\(id)/clip?start=1").code == "out_of_range")

            let scan = try MP3Scan(size: UInt64(bytes.count)) { Array(bytes.dropFirst(Int($0)).prefix($1)) }
            let frames = zip(scan.offsets, scan.sizes).flatMap { bytes[Int($0)..<Int($0) + Int($1)] }
            for playlist in ["index.m3u8", "mp3/index.m3u8"] {
                let path = "/v1/library/\(id)/hls/\(playlist)"
                let text = try await relay.get(path).text
                let addresses = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
                #expect(addresses.count == 3, "\(text)")
                var played: [UInt8] = []
                for address in addresses {
                    let answer = try await relay.get(path.replacing(/[^\/]*$/, with: "") + address)
                    #expect(answer.status == 200 && answer.headers["content-type"] == ["audio/mpeg"])
                    played += answer.body.dropFirst(MP3Segments.timestamp(0).count)
                }
                #expect(played == frames)
            }
            for path in [
                "mp3/0/0-0.mp3", "mp3/0/99999999-10.mp3", "mp3/0/1.m4s", "video/0/0.m4s", "mp3/init.mp4",
                "opus/index.m3u8",
            ] {
                let answer = try await relay.get("/v1/library/\(id)/hls/\(path)")
                #expect(answer.code == "unknown_item", "\(path): \(answer.text)")
            }
        }
    }
}
