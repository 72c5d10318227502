import Foundation
import Media
import TestSupport
import Testing

extension SystemTests {
    /// Tests players on every format of sessions that began long before.
    ///
    /// docs/reference/formats.md has the table of what to pass to each of them.
    @Suite(
        "Clients of a session that began long before",
        .serialized,
        .enabled(if: OldSessions.haveClients, "clients are installed by Scripts/packages desktop players"),
        .oldSessions
    )
    struct ClientMatrixTests {
        static let players: [any StreamPlayer] = [
            FFmpegPlayer(), MPVPlayer(), GStreamerPlayer(), VLCPlayer(), OpenCVPlayer(), ChromiumPlayer(),
        ]

        /// The streams that Chromium's video element cannot play, and why. All other players play everything.
        static let notForChromium: [(stream: LiveStream, reason: String)] = [
            (LiveStream(format: .bare, codec: .h264), "plays containers only"),
            (LiveStream(format: .bare, codec: .h265), "plays containers only"),
            (LiveStream(format: .transport, codec: .h264), "has no demuxer of transport streams"),
            (LiveStream(format: .transport, codec: .h265), "has no demuxer of transport streams"),
            (LiveStream(format: .mp4, codec: .h265), "Debian's build has no decoder of H.265"),
            (LiveStream(format: .motionJPEG, codec: .h264), "plays no JPEG pictures; an img element shows them"),
            (LiveStream(format: .port, codec: .h264), "reaches no TCP port"),
            (LiveStream(format: .port, codec: .h265), "reaches no TCP port"),
        ]

        /// A player, and a stream that it plays.
        struct Combination: Sendable, CustomTestStringConvertible {
            var player: any StreamPlayer
            var stream: LiveStream
            var testDescription: String { "\(player.testDescription), \(stream.testDescription)" }
        }

        static let combinations = players.flatMap { player in
            LiveStream.all.map { Combination(player: player, stream: $0) }
        }.filter { combination in
            !(combination.player is ChromiumPlayer) || !notForChromium.contains { $0.stream == combination.stream }
        }

        @Test(
            "shows the first picture within 2 s, at a time near 0, and complains of nothing",
            arguments: combinations
        )
        func live(_ combination: Combination) async throws {
            let (player, stream, relay) = (combination.player, combination.stream, try OldSessions.relay)
            // A busy machine may keep a client waiting, but not three times in a row.
            var quickest = Duration.seconds(60)
            for _ in 1...3 where quickest > .seconds(2) {
                let showing = try await inThread { try player.watch(stream, of: relay) }
                #expect(showing.messages.isEmpty)
                if stream.format.hasTimes {
                    let time = try #require(showing.firstTime)
                    #expect((-0.05...0.5).contains(time), "the first picture is at \(time) s")
                }
                quickest = min(quickest, showing.firstPicture)
            }
            #expect(quickest <= .seconds(2))
        }

        @Test("learns from Chromium's video element if it cannot play a stream")
        func refusals() async throws {
            let relay = try OldSessions.relay
            // The element cannot open a TCP port.
            let streams = Self.notForChromium.filter { $0.stream.format != .port }
            let refused = try await inThread { try ChromiumPlayer().refused(streams.map(\.stream), of: relay) }
            try #require(refused.count == streams.count)
            for (row, isRefused) in zip(streams, refused) {
                #expect(isRefused, "\(row.stream): Chromium \(row.reason)")
            }
        }

        @Test("saves a file that is as long as its pictures, and MP4 begins at 0", arguments: Codec.allCases)
        func saved(_ codec: Codec) async throws {
            let relay = try OldSessions.relay
            let scratch = try Scratch()
            let streams = LiveStream.all.filter { $0.codec == codec && $0.format.hasTimes }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for stream in streams {
                    let file = Self.file(of: stream, in: scratch)
                    group.addTask { try await Self.save(stream, of: relay, to: file) }
                }
                try await group.waitForAll()
            }
            for stream in streams {
                let file = Self.file(of: stream, in: scratch)
                let pictures = try await inThread { try Self.packets(of: file) }
                let (first, last) = (try #require(pictures.first), try #require(pictures.last))
                let length = last.time + last.duration - first.time
                #expect((3...8).contains(length), "curl's 5 s")
                if stream.format == .mp4 { #expect(first.time == 0) }
                for player in Self.players where !(player is ChromiumPlayer) || (stream.format, codec) == (.mp4, .h264)
                {
                    let told = try await inThread { try player.duration(of: file) }
                    // VLC reports whole seconds.
                    let slack = player is VLCPlayer ? 0.6 : 0.15
                    // GStreamer shortens a gap of more than 0.5 s between two program clocks to 0.5 s. On a busy
                    // machine, the H.265 encoder leaves such gaps.
                    let isCut = player is GStreamerPlayer && stream.format == .transport
                    let expected = isCut ? length - Self.excess(of: pictures.map(\.time), over: 0.5) : length
                    #expect(abs(told - expected) < slack, "\(player.testDescription), \(stream.testDescription)")
                }
            }
        }

        private static func file(of stream: LiveStream, in scratch: Scratch) -> URL {
            scratch.file("saved.\(stream.format == .mp4 ? "mp4" : "ts")")
        }

        /// Saves 5 s of a stream as curl does.
        private static func save(_ stream: LiveStream, of relay: WatchedRelay, to file: URL) async throws {
            let saving = try await inThread {
                try Programs.run(
                    URL(fileURLWithPath: "/usr/bin/curl"),
                    ["--silent", "--max-time", "5", "--output", file.path, relay.url(stream)]
                )
            }
            // curl's exit status at its time limit.
            #expect(saving.status == 28)
        }

        /// Returns by how much the gaps between times exceed `limit`, in all.
        private static func excess(of times: [Double], over limit: Double) -> Double {
            zip(times, times.dropFirst()).reduce(0) { $0 + max(0, $1.1 - $1.0 - limit) }
        }

        /// Returns a file's pictures, by ffprobe. curl may have cut off the last one.
        private static func packets(of file: URL) throws -> [(time: Double, duration: Double)] {
            try Tool.run(
                "/usr/bin/ffprobe",
                ["-v", "fatal", "-show_entries", "packet=pts_time,duration_time", "-of", "csv=p=0", file.path]
            ).split(separator: "\n").compactMap { line in
                let fields = line.split(separator: ",").compactMap { Double($0) }
                return fields.count == 2 ? (fields[0], fields[1]) : nil
            }
        }
    }
}
