import Media
import Packaging
import StreamOracle
import TestSupport
import Testing

/// Tests that the oracle reads framings and containers, and finds faults in broken ones.
@Suite("The stream oracle's formats")
struct OracleFormatTests {
    /// A source's pictures at 30 a second, µs.
    private struct Clip {
        let codec: Codec
        let pictures: [RecordedPicture]

        init(_ codec: Codec) throws {
            let source = try SourceStream(
                SourceSettings(name: "\(codec)", encoder: codec == .h264 ? .x264 : .x265, pictures: 20)
            )
            self.codec = codec
            pictures = source.accessUnits.enumerated().map { index, unit in
                RecordedPicture(
                    bytes: unit,
                    pts: Int64(index) * 33_333,
                    isKeyframe: source.keyframes.contains(index)
                )
            }
        }

        func faults(_ recording: Recording) -> [String] { recording.faults(codec: codec) }

        /// Expects that a recording has these pictures, start codes and delimiters aside, and no fault.
        func expect(_ recording: Recording, prefix count: Int = 20) {
            var timeline = Timeline(codec: codec)
            var timed = recording
            for index in timed.pictures.indices { timed.pictures[index].pts = pictures[index].pts }
            var own = Recording()
            own.pictures = Array(pictures.prefix(count))
            #expect(timeline.add(own, of: "one") + timeline.add(timed, of: "another") == [])
            #expect(recording.pictures.count == count)
            #expect(faults(recording) == [])
        }
    }

    private static func accessUnit(_ picture: RecordedPicture) -> AccessUnit {
        AccessUnit(
            pts: picture.pts ?? 0,
            captured: 0,
            encodeStart: 0,
            encodeEnd: 0,
            flags: picture.isKeyframe == true ? .key : [],
            size: PictureSize(width: 2, height: 2),
            bytes: picture.bytes
        )
    }

    @Test(
        "scrcpy's packets are read, and one that is cut off or has no parameter sets is found",
        arguments: Codec.allCases
    )
    func scrcpy(codec: Codec) throws {
        let clip = try Clip(codec)
        func packet(_ head: UInt64, _ bytes: [UInt8]) -> [UInt8] {
            (0..<8).map { UInt8(truncatingIfNeeded: head >> (56 - 8 * $0)) }
                + (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (24 - 8 * $0)) } + bytes
        }
        var stream: [UInt8] = []
        for picture in clip.pictures {
            let pts = UInt64(picture.pts ?? 0)
            guard picture.isKeyframe == true else {
                stream += packet(pts, picture.bytes)
                continue
            }
            let sets = ByteStream.units(in: picture.bytes).prefix(codec == .h264 ? 2 : 3)
            let rest = ByteStream.units(in: picture.bytes).dropFirst(sets.count)
            stream += packet(1 << 63, ByteStream.joined(Array(sets)))
            stream += packet(1 << 62 | pts, ByteStream.joined(Array(rest)))
        }
        clip.expect(Scrcpy.recording(of: stream, isWhole: true))
        let cut = Array(stream.dropLast())
        clip.expect(Scrcpy.recording(of: cut, isWhole: false), prefix: 19)
        #expect(Scrcpy.recording(of: cut, isWhole: true).faults.count == 1)
        var bare = clip.pictures[0].bytes
        bare = packet(1 << 62, bare)
        #expect(Scrcpy.recording(of: bare, isWhole: true).faults.count == 1)
    }

    @Test("a transport stream is read, and a lost packet is found", arguments: Codec.allCases)
    func transportStream(codec: Codec) throws {
        let clip = try Clip(codec)
        var packets = TransportStream(codec: codec)
        let stream = try clip.pictures.flatMap {
            try packets.packets(Self.accessUnit($0))
        }
        clip.expect(TransportPackets.recording(of: stream, isWhole: true))
        clip.expect(TransportPackets.recording(of: stream.dropLast(188), isWhole: false), prefix: 19)
        #expect(!TransportPackets.recording(of: stream.dropLast(100), isWhole: true).faults.isEmpty)
        // Cut within the first picture.
        let lossy = Array(stream[..<(4 * 188)] + stream[(5 * 188)...])
        #expect(!TransportPackets.recording(of: lossy, isWhole: true).faults.isEmpty)
    }

    @Test(
        "fragments are read, from a file and from a WebSocket, and one that is cut off is found",
        arguments: Codec.allCases
    )
    func fragments(codec: Codec) throws {
        let clip = try Clip(codec)
        var packager = FragmentedMP4(codec: codec, fps: 30)
        var (file, messages): ([UInt8], [WebSocketMessages.Message]) = ([], [])
        for picture in clip.pictures {
            let fragment = try packager.fragment(Self.accessUnit(picture))
            let head = packager.initialization?.bytes ?? []
            if file.isEmpty {
                file = head
                messages.append(.binary([1] + [UInt8](repeating: 0, count: 13) + head))
            }
            file += fragment.bytes
            messages.append(.binary(Self.head(of: picture) + fragment.bytes))
        }
        clip.expect(Fragments.recording(of: file, isWhole: true))
        clip.expect(Fragments.recording(of: file.dropLast(), isWhole: false), prefix: 19)
        #expect(Fragments.recording(of: file.dropLast(), isWhole: true).faults.count == 1)
        clip.expect(WebSocketMessages.recording(of: messages, codec: codec, isMP4: true))
    }

    @Test(
        "a WebSocket's pictures are read, and those whose configuration is another one's are found",
        arguments: Codec.allCases
    )
    func webSocket(codec: Codec) throws {
        let clip = try Clip(codec)
        let sets = ByteStream.joined(Array(ByteStream.units(in: clip.pictures[0].bytes).prefix(codec == .h264 ? 2 : 3)))
        let configuration = [1] + [UInt8](repeating: 0, count: 13) + sets
        let pictures = clip.pictures.map { WebSocketMessages.Message.binary(Self.head(of: $0) + $0.bytes) }
        let resync = WebSocketMessages.Message.text(#"{"type":"resync","dropped":3}"#)
        let recording = WebSocketMessages.recording(
            of: [.binary(configuration)] + pictures + [resync],
            codec: codec,
            isMP4: false
        )
        clip.expect(recording)
        #expect(recording.resyncs == 1)
        let other = WebSocketMessages.recording(
            of: [.binary(configuration + [1])] + pictures,
            codec: codec,
            isMP4: false
        )
        #expect(other.faults.count == clip.pictures.count { $0.isKeyframe == true })
    }

    /// The header of a picture's message: docs/reference/websocket.md.
    private static func head(of picture: RecordedPicture) -> [UInt8] {
        [2, picture.isKeyframe == true ? 1 : 0, 0, 0]
            + (0..<8).map { UInt8(truncatingIfNeeded: (picture.pts ?? 0) >> (56 - 8 * $0)) }
            + [UInt8](repeating: 0, count: 24)
    }

    @Test("timestamps that do not increase, and wrong keyframe flags, are found")
    func flags() throws {
        let clip = try Clip(.h264)
        var recording = Recording()
        recording.pictures = clip.pictures
        #expect(clip.faults(recording) == [])
        recording.pictures[5].pts = recording.pictures[4].pts
        recording.pictures[7].isKeyframe = true
        #expect(clip.faults(recording).count == 2)
    }

    @Test("viewers of a session are held against each other")
    func timeline() throws {
        let clip = try Clip(.h264)
        func recording(_ pictures: some Sequence<RecordedPicture>) -> Recording {
            var recording = Recording()
            recording.pictures = Array(pictures)
            return recording
        }
        var timeline = Timeline(codec: .h264)
        #expect(timeline.add(recording(clip.pictures), of: "all").isEmpty)
        let late = recording(clip.pictures[9...])
        #expect(timeline.add(late, of: "late").isEmpty && timeline.gaps(in: late).isEmpty && timeline.contains(late))
        let gap = recording(clip.pictures[..<4] + clip.pictures[5...])
        #expect(timeline.gaps(in: gap).count == 1 && !timeline.contains(gap))
        var other = clip.pictures
        other[6].bytes = other[7].bytes
        #expect(timeline.add(recording(other), of: "other").count == 1)
    }

    @Test("a chunked answer is put together, and one that is cut off is known")
    func body() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let whole = HTTPBody(Array("\(head)3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n".utf8))
        #expect(whole.status == 200 && whole.isWhole)
        #expect(whole.bytes == Array("abc0123456789".utf8))
        let cut = HTTPBody(Array("\(head)3\r\nabc\r\nA\r\n0123".utf8))
        #expect(!cut.isWhole && cut.bytes == Array("abc0123".utf8))
        #expect(HTTPBody(Array("HTTP/1.1 404 Not Found\r\n\r\n".utf8)).status == 404)
        #expect(HTTPBody([]).status == 0)
    }
}
