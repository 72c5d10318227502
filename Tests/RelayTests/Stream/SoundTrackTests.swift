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
        // The first keyframe may be too old for a viewer that joins later.
        let source = try SourceStream(SourceSettings(name: "x264", keyframes: [0, 1], pictures: 30))
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send(.tracks(DeviceTracks([sound.track])))
            var pictures = source.accessUnits.enumerated().map { index, bytes in
                AccessUnit(SampleStream.accessUnit(index, key: index <= 1).header, bytes)
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
            // The end of a session drops what a viewer has not been given.
            let all = rest + sound.packets.reduce(0) { $0 + $1.count }
            var response: [UInt8] = []
            while response.count < all, let more = try await client.next() { response += more }
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            response += try await client.readToEnd()
            var body = try #require(ChunkedBody(response))
            let bytes = body.read()
            let found = try await inThread {
                let scratch = try Scratch()
                return try Self.probe(scratch.write(bytes, to: "both.\(container)"))
            }
            // Silence comes before the sound, which begins later than the pictures.
            let (shown, packets) = (try #require(found["h264"]), try #require(found["opus"]))
            #expect((29...30).contains(shown) && packets >= sound.packets.count && found.count == 2, "\(found)")
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
            var response: [UInt8] = []
            while try Self.pages(of: response).count < 3, let more = try await client.next() { response += more }
            try await Self.play(sound, on: link)
            func hasSilenceAfterSound() throws -> Bool {
                let pages = try Self.pages(of: response)
                let packets = pages.dropFirst(2).flatMap(\.packets)
                return packets.contains { $0 == sound.packets.last } && packets.last == OpusPacket.silence
                    && (pages.last?.position ?? 0) > 48_000 * 2
            }
            while try !hasSilenceAfterSound(), let more = try await client.next() { response += more }
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            response += try await client.readToEnd()
            let pages = try Self.pages(of: response)
            #expect(pages.first?.flags == .beginning && pages.last?.flags == .end)
            #expect(pages.map(\.sequence) == Array(0..<UInt32(pages.count)))
            // Silence comes before and after them.
            let packets = pages.dropFirst(2).flatMap(\.packets)
            #expect(packets.filter { $0 != OpusPacket.silence } == sound.packets)
            #expect(packets.first == OpusPacket.silence && packets.last == OpusPacket.silence)
            let length = try #require(pages.last).position
            #expect(length > 48_000 * 2, "\(length)")
            let positions = pages.map(\.position)
            #expect(positions == positions.sorted())
        }
    }

    @Test("in AAC reaches containers and listeners that ask for it, beside others in Opus", arguments: ["mp4", "ts"])
    func aac(_ container: String) async throws {
        let (opus, aac) = try {
            let scratch = try Scratch()
            return (
                try OpusSource(seconds: 1, track: 1, scratch: scratch),
                try AACSource(seconds: 1, track: 2, scratch: scratch)
            )
        }()
        let source = try SourceStream(SourceSettings(name: "x264", keyframes: [0], pictures: 30))
        try await RunningRelay.run {
            $0.devices[0].sound = .desktop
        } _: { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            var report = DeviceTracks([opus.track, aac.track])
            report.encodesAAC = true
            try await link.send(.tracks(report))
            let pictures = source.accessUnits.enumerated().map { index, bytes in
                AccessUnit(SampleStream.accessUnit(index, key: index == 0).header, bytes)
            }
            _ = try await eventually("the tracks") {
                let text = try await relay.get("/screencapture/broadcast").json
                return text["audio"]?["problem"] == JSONValue.null ? true : nil
            }
            var clients: [ByteClient] = []
            for (index, path) in ["\(container)?audio=aac", container, "aac", "ogg"].map({ "stream." + $0 })
                .enumerated()
            {
                let client = try await ByteClient(port: relay.ports.http)
                let request = "GET /screencapture/\(session.id)/\(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
                try await client.send(Array(request.utf8))
                try await relay.waitForViewers(index + 1, of: session.id)
                clients.append(client)
            }
            try await link.send([pictures[0]], session: session.id)
            try await Task.sleep(for: .seconds(0.3))
            let begin = Int64(NIODeadline.now().uptimeNanoseconds / 1000)
            let sound = (opus.units(from: begin) + aac.units(from: begin)).sorted { $0.pts < $1.pts }
            try await link.send(bytes: sound.flatMap { Packet.accessUnit(0, $0).encoded() })
            try await link.send(Array(pictures.dropFirst()), session: session.id)
            var responses = clients.map { _ in [UInt8]() }
            func hasSilenceAfterSound(_ response: [UInt8]) -> Bool {
                var body = ChunkedBody(response)
                let packets = AACSource.packets(ofADTS: body?.read() ?? [])
                return packets.contains { $0 == aac.packets.last } && packets.last == AACParameters.silence
            }
            while !hasSilenceAfterSound(responses[2]), let more = try await clients[2].next() { responses[2] += more }
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            var bodies: [[UInt8]] = []
            for (index, client) in clients.enumerated() {
                responses[index] += try await client.readToEnd()
                var body = try #require(ChunkedBody(responses[index]))
                bodies.append(body.read())
            }
            let files = bodies
            let found = try await inThread {
                let scratch = try Scratch()
                return try files.prefix(2).enumerated().map { index, bytes in
                    try Self.probe(scratch.write(bytes, to: "\(index).\(container)"))
                }
            }
            let (inAAC, inOpus) = (found[0], found[1])
            #expect((inAAC["aac"] ?? 0) >= aac.packets.count && inAAC["opus"] == nil, "\(inAAC)")
            #expect((inOpus["opus"] ?? 0) >= opus.packets.count && inOpus["aac"] == nil, "\(inOpus)")
            let packets = AACSource.packets(ofADTS: files[2])
            #expect(packets.filter { $0 != AACParameters.silence } == aac.packets)
            #expect(packets.first == AACParameters.silence && packets.last == AACParameters.silence)
            var reader = OggPageReader()
            let pages = try reader.append(files[3])
            let alone = pages.dropFirst(2).flatMap(\.packets).filter { $0 != OpusPacket.silence }
            #expect(alone == opus.packets)
        }
    }

    @Test("in AAC is refused with the reason if the agent cannot encode it, and Opus goes on")
    func noAAC() async throws {
        let track = SampleStream.opusTrack(1)
        try await RunningRelay.run {
            $0.devices[0].sound = .desktop
        } _: { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            let agent = Task {
                try await link.send(.tracks(DeviceTracks([track, MediaTrack(id: 2, coding: .aac(.stereo))])))
                while let packet = try await link.next() {
                    guard case .listen(let order) = packet, order.wanted.contains(.aac) else { continue }
                    var report = DeviceTracks([track])
                    (report.encodesAAC, report.aacProblem) = (false, "libavcodec cannot be loaded: gone")
                    try await link.send(.tracks(report))
                }
            }
            defer { agent.cancel() }
            try await Task.sleep(for: .seconds(0.3))
            for path in ["stream.aac", "stream.mp4?audio=aac", "stream.ts?audio=aac", "stream.aac"] {
                let response = try await relay.get("/screencapture/\(session.id)/\(path)")
                let text = "\(response.json)"
                #expect(response.status == 409 && response.code == "no_aac" && text.contains("gone"), "\(text)")
            }
            let audio = try await relay.get("/screencapture/broadcast").json["audio"]
            #expect(audio?["aacProblem"]?.string?.contains("gone") == true && audio?["problem"] == JSONValue.null)
            let wrong = try await relay.get("/screencapture/\(session.id)/stream.mp4?audio=mp3")
            #expect(wrong.status == 400 && wrong.code == "unknown_value")
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
            var (packets, times) = ([[UInt8]](), [UInt64]())
            for _ in sound.packets {
                let head = try await viewer.read(12)
                times.append(head[..<8].number)
                packets.append(try await viewer.read(Int(head[8...].number)))
            }
            #expect(packets == sound.packets)
            #expect(zip(times, times.dropFirst()).allSatisfy { $1 == $0 + 20_000 })
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
            for path in ["stream.ogg", "stream.aac"] {
                let response = try await relay.get("/screencapture/\(session.id)/\(path)")
                #expect(response.status == 409 && response.code == "no_sound")
            }
        }
    }

    /// Sends all packets at once, 800 ms before the first is due, when the relay has asked for Opus. Late sound is
    /// discarded, and a busy machine may pause this test for longer.
    private static func play(_ sound: OpusSource, on link: LinkClient) async throws {
        _ = try await link.first { packet in
            if case .listen(let order) = packet, order.wanted.contains(.opus) { true } else { nil }
        }
        let units = sound.units(from: Int64(NIODeadline.now().uptimeNanoseconds / 1000) + 800_000)
        try await link.send(bytes: units.flatMap { Packet.accessUnit(0, $0).encoded() })
    }

    /// Returns the pages of Ogg in a response so far.
    private static func pages(of response: [UInt8]) throws -> [OggPage] {
        var (body, reader) = (ChunkedBody(response), OggPageReader())
        return try reader.append(body?.read() ?? [])
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
