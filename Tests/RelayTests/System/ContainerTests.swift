import Foundation
import HeliographAPI
import Media
import Packaging
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("A viewer of a container", .serialized)
struct ContainerTests {
    /// Runs a program without blocking one of the threads that the relay also runs on.
    private func run(_ program: String, _ arguments: [String]) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try Tool.run(program, arguments, deadline: 60) })
            }
        }
    }

    /// Joins over HTTP, and returns once it counts as a viewer.
    ///
    /// - Parameters:
    ///   - container: With or without a query.
    ///   - count: The number of viewers then.
    private func join(_ relay: RunningRelay, _ id: SessionID, _ container: String, as count: Int) async throws
        -> ByteClient
    {
        let client = try await ByteClient(port: relay.ports.http)
        let request = "GET /screencapture/\(id)/stream.\(container) HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await client.send(Array(request.utf8))
        try await relay.waitForViewers(count, of: id)
        return client
    }

    private static func download(_ response: [UInt8]) throws -> ChunkedBody { try #require(ChunkedBody(response)) }

    private static func accessUnits() throws -> [AccessUnit] {
        let settings = SourceSettings(name: "x264", keyframes: [0, 20], pictures: 30)
        return SampleStream.accessUnits(of: try SourceStream(settings))
    }

    @Test("gets each picture's chunk, the same for all, beginning at a keyframe", arguments: ["ts", "mp4"])
    func sharedChunks(_ container: String) async throws {
        let units = try Self.accessUnits()
        var packets = TransportStream(codec: .h264)
        var fragments = FragmentedMP4(codec: .h264, fps: 30)
        let chunks = try units.map {
            container == "ts" ? try packets.packets($0) : try fragments.fragment($0).bytes
        }
        let beginning = container == "ts" ? [] : try #require(fragments.initialization).bytes
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let early = try await join(relay, session.id, container, as: 1)
            let link = try await LinkClient(greeting: relay)
            try await link.send(Array(units[..<10]), session: session.id)
            let tcp = try await ByteClient(port: session.port)
            try await relay.waitForViewers(2, of: session.id)
            // From the cache or, on a machine that is too slow for that, from the second keyframe.
            let late = try await join(relay, session.id, container, as: 3)
            try await link.send(Array(units[10...]), session: session.id)
            _ = try await eventually("all pictures") {
                try await relay.session(session.id)["counters"]?["relay"]?["pictures"] == .integer(units.count)
                    ? true : nil
            }
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            var download = try Self.download(try await early.readToEnd())
            let all = beginning + chunks.flatMap(\.self)
            let body = download.read()
            #expect(body == all)
            download = try Self.download(try await late.readToEnd())
            let lateBody = download.read()
            let late20 = chunks[20...].map { container == "ts" ? $0 : Self.earlier($0, by: units[20].pts) }
            #expect(lateBody == all || lateBody == beginning + late20.flatMap(\.self))
            _ = try await tcp.readToEnd()
        }
    }

    /// Returns a fragment whose decode time is this many µs earlier.
    private static func earlier(_ fragment: [UInt8], by difference: Int64) -> [UInt8] {
        var fragment = fragment
        let place = FragmentedMP4.decodeTimeOffset
        let time = fragment[place..<(place + 8)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } - UInt64(difference)
        for index in 0..<8 { fragment[place + index] = UInt8(truncatingIfNeeded: time >> (56 - 8 * index)) }
        return fragment
    }

    @Test("of a session that is old begins at time 0, for each viewer")
    func beginsAtZero() async throws {
        let old = try Self.accessUnits().map { unit in
            var unit = unit
            unit.pts += 40_000_000
            return unit
        }
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let first = try await join(relay, session.id, "mp4", as: 1)
            let link = try await LinkClient(greeting: relay)
            try await link.send(Array(old[..<20]), session: session.id)
            let second = try await join(relay, session.id, "mp4?join=live", as: 2)
            try await link.send(Array(old[20...]), session: session.id)
            _ = try await eventually("all pictures") {
                try await relay.session(session.id)["counters"]?["relay"]?["pictures"] == .integer(old.count)
                    ? true : nil
            }
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            for (viewer, units) in [(first, old[...]), (second, old[20...])] {
                var download = try Self.download(try await viewer.readToEnd())
                var reader = FragmentReader()
                let read = try reader.append(download.read())
                #expect(read.map(\.pts) == units.map { $0.pts - units[units.startIndex].pts })
                #expect(reader.isWhole)
            }
        }
    }

    @Test("that joins from the cache gets it whole, though the container's first viewer joined live")
    func cacheAfterLive() async throws {
        let units = try Self.accessUnits()
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send(Array(units[..<20]), session: session.id)
            var pts = units[19].pts
            _ = try await eventually("a viewer that is in time for the cache") { () -> Bool? in
                let former = try await join(relay, session.id, "ts", as: 1)
                var group = Array(units[20...])
                for index in group.indices {
                    pts += 33_333
                    group[index].pts = pts
                }
                try await link.send(Array(group[..<5]), session: session.id)
                _ = try await former.read(1000)
                try await former.close()
                try await relay.waitForViewers(0, of: session.id)
                let live = try await join(relay, session.id, "ts?join=live", as: 1)
                let late = try await join(relay, session.id, "ts", as: 2)
                try await link.send(Array(group[5...]), session: session.id)
                var packets = TransportStream(codec: .h264)
                let expected = try group.flatMap { try packets.packets($0) }
                // A viewer that was too late for the cache gets nothing.
                let body = try? await within("its pictures", limit: .seconds(2)) {
                    var bytes: [UInt8] = []
                    while let more = try await late.next() {
                        bytes += more
                        var download = try Self.download(bytes)
                        let body = download.read()
                        if body.count >= expected.count { return body }
                    }
                    return []
                }
                for viewer in [live, late] { try await viewer.close() }
                try await relay.waitForViewers(0, of: session.id)
                return body == expected ? true : nil
            }
        }
    }

    @Test("has its own timeline, which begins when a viewer comes, with what is cached")
    func beginsWithItsFirstViewer() async throws {
        let units = try Self.accessUnits()
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send(Array(units[..<10]), session: session.id)
            for _ in 0..<2 {
                let viewer = try await join(relay, session.id, "ts", as: 1)
                try await link.send(Array(units[20...]), session: session.id)
                var stream = TransportStream(codec: .h264)
                let packet = try await viewer.read(1000)
                var download = try Self.download(packet)
                // The first packet has the tables, with counter 0.
                #expect(Array(download.read().prefix(4)) == Array(try stream.packets(units[20]).prefix(4)))
                try await viewer.close()
                try await relay.waitForViewers(0, of: session.id)
            }
        }
    }

    @Test("a slow viewer is told about the gap and continues at a keyframe", arguments: ["ts", "mp4"])
    func slow(_ container: String) async throws {
        let source = try Self.accessUnits()
        // Large, so that sockets hold only a few.
        let padding: [UInt8] = [0, 0, 0, 1, 0x0C] + [UInt8](repeating: 0xFF, count: 64 << 10) + [0x80]
        let groupSize = 20
        try await RunningRelay.run {
            $0.viewerQueueLimits = .init(bytes: 256 << 10, pictures: 1000)
        } _: { relay in
            let session = try await relay.startSession()
            let slow = try await ByteClient(port: relay.ports.http, autoRead: false)
            let request = "GET /screencapture/\(session.id)/stream.\(container) HTTP/1.1\r\nHost: localhost\r\n\r\n"
            try await slow.send(Array(request.utf8))
            let quick = try await ByteClient(port: session.port)
            try await relay.waitForViewers(2, of: session.id)
            let link = try await LinkClient(greeting: relay)
            var number = 0
            /// Sends a group of pictures and returns how many the slow viewer has lost by then.
            func dropped() async throws -> JSONValue? {
                for index in 0..<groupSize {
                    var unit = SampleStream.accessUnit(number, key: index == 0)
                    unit.bytes = source[index].bytes + padding
                    number += 1
                    try await link.send([unit], session: session.id)
                    #expect(try await quick.read(unit.bytes.count) == unit.bytes)
                }
                return try await relay.session(session.id)["counters"]?["relay"]?["dropped"]
            }
            _ = try await eventually("a group that is dropped") {
                let before = try await dropped()
                return try await dropped() != before ? true : nil
            }
            try await slow.startReading()
            _ = try await eventually("a group that is not") {
                let before = try await dropped()
                return try await dropped() == before ? true : nil
            }
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            var download = try Self.download(try await slow.readToEnd())
            let body = download.read()
            if container == "ts" {
                // Packets without payload whose adaptation field signals a discontinuity.
                let marks = stride(from: 0, to: body.count, by: 188).filter { place in
                    body[place + 3] & 0x30 == 0x20 && body[place + 5] & 0x80 != 0
                }
                #expect(!marks.isEmpty && marks.count % 3 == 0)
            }
            let scratch = try Scratch()
            let file = try scratch.write(body, to: "slow.\(container)")
            let arguments = ["-v", "warning", "-show_entries", "packet=pts", "-of", "csv=p=0", file.path]
            let times = try await run("/usr/bin/ffprobe", arguments).split(separator: "\n")
            #expect(times.count >= groupSize && times.count < number)
        }
    }

    @Test("of the real agent's stream plays in ffmpeg and ffprobe without a warning", arguments: Codec.allCases)
    func realAgent(_ codec: Codec) async throws {
        try await RunningRelay.run {
            $0.devices[0].agentExecutable = Programs.product("capture-agent").path
        } _: { relay in
            let started = try await relay.post("/screencapture/broadcast/start", ["timeout": 60])
            #expect(started.status == 200, "\(started.text)")
            let session = try await relay.startSession(["codec": .string(codec.rawValue), "width": 320, "height": 180])
            for container in ["ts", "mp4"] {
                let url = relay.url("/screencapture/\(session.id)/stream.\(container)")
                let hashes = try await run(
                    "/usr/bin/ffmpeg",
                    ["-v", "warning", "-nostdin", "-xerror", "-err_detect", "explode", "-i", url]
                        + ["-frames:v", "45", "-fps_mode", "passthrough", "-f", "framemd5", "-"]
                )
                #expect(hashes.split(separator: "\n").count { !$0.hasPrefix("#") } == 45)
                let packets = try await run(
                    "/usr/bin/ffprobe",
                    ["-v", "warning", "-read_intervals", "%+#45", "-show_entries", "packet=pts_time,flags"]
                        + ["-of", "csv=p=0", url]
                )
                let lines = packets.split(separator: "\n")
                #expect(lines.count == 45)
                #expect(lines.first?.contains(",K") == true)
            }
        }
    }
}
