import Foundation
import HeliographAPI
import Media
import NIOCore
import Packaging
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A device's sound")
struct SoundTrackTests {
    @Test("reaches viewers of containers from the agent's link on, and no others", arguments: ["mp4", "ts"])
    func reaches(_ container: String) async throws {
        let sound = try OpusSource(seconds: 1, track: 1, scratch: Scratch())
        let source = try SourceStream(SourceSettings(name: "x264", keyframes: [0], pictures: 30))
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send(.tracks(DeviceTracks([sound.track])))
            var pictures = source.accessUnits.enumerated().map { index, bytes in
                AccessUnit(SampleStream.accessUnit(index, key: index == 0).header, bytes)
            }
            let bare = try await ByteClient(port: session.port)
            try await relay.waitForViewers(1, of: session.id)
            // The agent's sound is known once the agent feeds the session.
            try await link.send([pictures.removeFirst()], session: session.id)
            _ = try await bare.read(source.accessUnits[0].count)
            let client = try await ByteClient(port: relay.ports.http)
            let request = "GET /screencapture/\(session.id)/stream.\(container) HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await client.send(Array(request.utf8))
            try await relay.waitForViewers(2, of: session.id)
            // An unknown track, and sound without a device, are left out.
            var unknown = sound.units(from: 0)[0]
            unknown.header.track = 9
            try await link.send([unknown], session: 0)
            try await link.send(sound.units(from: 0), session: session.id)
            try await link.send(sound.units(from: Int64(NIODeadline.now().uptimeNanoseconds / 1000)), session: 0)
            try await link.send(pictures, session: session.id)
            let rest = pictures.reduce(0) { $0 + $1.bytes.count }
            #expect(try await bare.read(rest) == pictures.flatMap(\.bytes))
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            let response = try await client.readToEnd()
            var body = try #require(ChunkedBody(response))
            let bytes = body.read()
            let found = try await inThread {
                let scratch = try Scratch()
                return try Self.probe(scratch.write(bytes, to: "both.\(container)"))
            }
            // Silence comes before the sound, which begins later than the pictures.
            let packets = try #require(found["opus"])
            #expect(found["h264"] == 30 && packets >= sound.packets.count && found.count == 2, "\(found)")
        }
    }

    @Test("is listened to alone, in Ogg, with silence where none comes, and its end")
    func alone() async throws {
        let sound = try OpusSource(seconds: 1, track: 1, scratch: Scratch())
        try await RunningRelay.run {
            $0.devices[0].sound = .desktop
        } _: { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send(.tracks(DeviceTracks([sound.track])))
            let client = try await ByteClient(port: relay.ports.http)
            let request = "GET /screencapture/\(session.id)/stream.ogg HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await client.send(Array(request.utf8))
            try await relay.waitForViewers(1, of: session.id)
            try await Task.sleep(for: .seconds(0.5))
            try await Self.play(sound, on: link)
            try await Task.sleep(for: .seconds(1.5))
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            let response = try await client.readToEnd()
            var body = try #require(ChunkedBody(response))
            var reader = OggPageReader()
            let pages = try reader.append(body.read())
            #expect(pages.first?.flags == .beginning && pages.last?.flags == .end)
            #expect(pages.map(\.sequence) == Array(0..<UInt32(pages.count)))
            // Silence comes before and after them.
            let packets = pages.dropFirst(2).flatMap(\.packets)
            #expect(packets.filter { $0 != SilenceFill.packet } == sound.packets)
            #expect(packets.first == SilenceFill.packet && packets.last == SilenceFill.packet)
            let length = try #require(pages.last).position
            #expect(length > 48_000 * 2, "\(length)")
            let positions = pages.map(\.position)
            #expect(positions == positions.sorted())
        }
    }

    @Test("has a port of its own in scrcpy's framing, with the header of Opus first")
    func port() async throws {
        let sound = try OpusSource(seconds: 1, track: 1, scratch: Scratch())
        try await RunningRelay.run {
            $0.devices[0].sound = .desktop
        } _: { relay in
            let plain = try await relay.startSession()
            let none = try await relay.get("/screencapture/\(plain.id)").json["audioPort"]
            #expect(none == JSONValue.null)
            let session = try await relay.startSession(["framing": "scrcpy"])
            let report = try await relay.get("/screencapture/\(session.id)").json
            guard case .integer(let port)? = report["audioPort"] else { throw NeverCame(description: "\(report)") }
            #expect(port != session.port)
            let link = try await LinkClient(greeting: relay)
            try await link.send(.tracks(DeviceTracks([sound.track])))
            let viewer = try await ByteClient(port: port)
            try await relay.waitForViewers(1, of: session.id)
            async let played: Void = Self.play(sound, on: link)
            let head = try await viewer.read(12 + 19)
            #expect(head.prefix(12).elementsEqual([0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 19]))
            #expect(head.dropFirst(12).starts(with: Array("OpusHead".utf8)))
            var last: UInt64 = 0
            for packet in sound.packets {
                let bytes = try await viewer.read(12 + packet.count)
                #expect(bytes.dropFirst(12).elementsEqual(packet))
                #expect(bytes[8..<12].reduce(0) { $0 << 8 | Int($1) } == packet.count)
                let pts = bytes[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
                #expect(last == 0 || pts == last + 20_000)
                last = pts
            }
            try await played
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            let rest = try await viewer.readToEnd()
            #expect(rest.isEmpty)
        }
    }

    @Test("cannot be listened to if it is off")
    func off() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let response = try await relay.get("/screencapture/\(session.id)/stream.ogg")
            #expect(response.status == 409 && response.code == "no_sound")
        }
    }

    /// Sends each packet when it is due, because sound that comes far ahead of its time is refused.
    private static func play(_ sound: OpusSource, on link: LinkClient) async throws {
        for unit in sound.units(from: Int64(NIODeadline.now().uptimeNanoseconds / 1000)) {
            try await link.send([unit], session: 0)
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Returns how many packets ffprobe finds for each codec, without any complaint. It lists the streams of a program
    /// twice.
    private static func probe(_ file: URL) throws -> [String: Int] {
        let lines = try Tool.run(
            "/usr/bin/ffprobe",
            ["-v", "warning", "-count_packets", "-show_entries", "stream=codec_name,nb_read_packets", "-of", "csv=p=0"]
                + [file.path]
        )
        return Dictionary(
            lines.split(separator: "\n").compactMap { line in
                let fields = line.split(separator: ",")
                return fields.count == 2 ? (String(fields[0]), Int(fields[1]) ?? -1) : nil
            }
        ) { max($0, $1) }
    }
}
