import HeliographAPI
import Media
import NIOCore
import NIOHTTP1
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("MJPEG", .serialized)
struct MotionJPEGTests {
    /// An agent that answers the nth request with a JPEG of the bytes n.
    ///
    /// - Parameter mayBeFresh: Whether the viewer may have waited for the agent, whose newest frame is then too old.
    private func answer(
        _ link: LinkClient,
        _ id: SessionID,
        _ number: UInt8,
        size: Int = 5,
        mayBeFresh: Bool = false
    ) async throws {
        let request: SnapshotRequest = try await link.first { packet in
            if case .snapshotRequest(_, let request) = packet { request } else { nil }
        }
        #expect(request.format == .jpeg && (!request.isFresh || mayBeFresh))
        let picture = Snapshot.Picture(
            format: .jpeg,
            captured: UInt64(number),
            orientation: 0,
            size: PictureSize(width: 640, height: 360),
            bytes: [UInt8](repeating: number, count: size)
        )
        try await link.send(.snapshot(id, Snapshot(request: request.id, outcome: .picture(picture))))
    }

    /// Sends a picture of a new frame.
    private static func frame(_ number: Int) -> AccessUnit {
        var unit = SampleStream.accessUnit(number, key: false)
        unit.captured += UInt64(number)
        return unit
    }

    private func join(_ relay: RunningRelay, _ id: SessionID, as count: Int, reads: Bool = true) async throws
        -> ByteClient
    {
        let client = try await ByteClient(port: relay.ports.http, autoRead: reads)
        let request = "GET /screencapture/\(id)/stream.mjpeg?fps=20 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        try await client.send(Array(request.utf8))
        try await relay.waitForViewers(count, of: id)
        return client
    }

    /// Reads until `count` more parts have come; returns the byte that fills each one.
    private func parts(_ count: Int, from client: ByteClient, _ rest: inout [UInt8]) async throws -> [UInt8] {
        var parts: [UInt8] = []
        let head = Array("Heliograph-Orientation: 0\r\n\r\n".utf8)
        let end = Array("\r\n--heliograph-snapshot\r\n".utf8)
        while parts.count < count {
            if let place = rest.firstRange(of: head),
                let close = rest[place.upperBound...].firstRange(of: end)
            {
                let body = rest[place.upperBound..<close.lowerBound]
                #expect(Set(body).count == 1)
                parts.append(body.first ?? 0)
                // One after each part, and one before the first.
                let text = String(decoding: rest[..<place.lowerBound], as: UTF8.self)
                let isFirst = text.hasPrefix("HTTP/1.1")
                #expect(text.matches(of: /--heliograph-snapshot\r\n/).count == (isFirst ? 1 : 0), "\(text)")
                rest.removeFirst(close.upperBound)
            } else {
                rest += try #require(try await client.next())
            }
        }
        return parts
    }

    @Test("shows each change that there is time for, one snapshot for all viewers, and a static screen's picture again")
    func viewers() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession(["ttl": 3])
            // Before there is an agent; from now on the viewer keeps the session alive.
            let first = try await join(relay, session.id, as: 1)
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await answer(link, session.id, 1)
            var rest: [UInt8] = []
            let beginning = try await parts(1, from: first, &rest)
            #expect(beginning == [1])
            // A repeat changes nothing: the same bytes come again, without a request.
            var unit = SampleStream.accessUnit(1, key: false)
            unit.flags = .repeat
            try await link.send([unit], session: session.id)
            let repeats = try await parts(3, from: first, &rest)
            #expect(repeats == [1, 1, 1])
            // It has outlived its ttl by now.
            try await link.send([Self.frame(2)], session: session.id)
            try await answer(link, session.id, 2)
            let change = try await parts(1, from: first, &rest)
            #expect(change == [2])
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            _ = try await first.readToEnd()
        }
    }

    @Test("has a head that players know, begins without an agent, and counts its viewers")
    func head() async throws {
        try await RunningRelay.run {
            $0.devices[0].maximumViewers = 1
        } _: { relay in
            let session = try await relay.startSession()
            let client = try await join(relay, session.id, as: 1)
            let full = try await relay.get("/screencapture/\(session.id)/stream.mjpeg")
            #expect(full.status == 503 && full.code == "too_many_viewers")
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await answer(link, session.id, 3, mayBeFresh: true)
            var rest: [UInt8] = []
            let picture = try await parts(1, from: client, &rest)
            #expect(picture == [3])
            try await client.close()
            try await relay.waitForViewers(0, of: session.id)
            let head = try await relay.call(.HEAD, "/screencapture/\(session.id)/stream.mjpeg")
            #expect(head.headers["content-type"] == ["multipart/x-mixed-replace; boundary=heliograph-snapshot"])
        }
    }

    @Test("of a viewer that does not read holds nothing up, and goes on with the newest picture")
    func slow() async throws {
        try await RunningRelay.run { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            try await relay.waitForPicture(of: session.id)
            let slow = try await join(relay, session.id, as: 1)
            try await slow.pause()
            let answers = Task {
                // Large, so that sockets hold only a few.
                for number: UInt8 in 1...255 { try await answer(link, session.id, number, size: 512 << 10) }
            }
            var number = 0
            /// Changes the screen for one second, and returns how many snapshots had been requested by then.
            func requested() async throws -> Substring {
                for _ in 0..<20 {
                    number += 1
                    try await link.send([Self.frame(number)], session: session.id)
                    try await Task.sleep(for: .milliseconds(50))
                }
                let lines = try await relay.get("/metrics").text.split(separator: "\n")
                return try #require(lines.first { $0.hasPrefix("heliograph_session_snapshots_requested_total") })
            }
            _ = try await eventually("a second without a snapshot") {
                let before = try await requested()
                return try await requested() == before ? true : nil
            }
            try await slow.startReading()
            var rest: [UInt8] = []
            var shown: UInt8 = 0
            _ = try await eventually("snapshots again") {
                let last = shown
                shown = try await parts(1, from: slow, &rest)[0]
                #expect(shown >= last)
                let before = try await requested()
                return try await requested() != before ? true : nil
            }
            answers.cancel()
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            _ = try await slow.readToEnd()
        }
    }

    @Test("of a viewer that reads nothing is closed after the time that it may be late, and counted")
    func stalled() async throws {
        try await RunningRelay.run {
            $0.viewerTimeout = .seconds(1)
        } _: { relay in
            let session = try await relay.startSession()
            let link = try await LinkClient(greeting: relay)
            try await link.send([SampleStream.accessUnit(0, key: true)], session: session.id)
            let quick = try await join(relay, session.id, as: 1)
            let stalled = try await join(relay, session.id, as: 2, reads: false)
            let answers = Task {
                // Large, so that sockets hold only a few.
                for number: UInt8 in 1...255 { try await answer(link, session.id, number, size: 512 << 10) }
            }
            var number = 0
            let status = try await eventually("a viewer that is closed") { () -> JSONValue? in
                number += 1
                try await link.send([SampleStream.accessUnit(number, key: false)], session: session.id)
                let status = try await relay.session(session.id)
                if status["viewers"] == 1 { return status }
                return nil
            }
            let closed = status["counters"]?["relay"]?["viewersClosed"]
            #expect(closed?["stalled"] == 1 && closed?["slow"] == 0 && closed?["memory"] == 0)
            let counter = #"heliograph_session_viewers_closed_total{device="default",session="1",reason="stalled"} 1"#
            #expect(try await relay.get("/metrics").text.contains(counter))
            try await stalled.startReading()
            let cut = try await stalled.readToEnd()
            #expect(!cut.suffix(7).elementsEqual("\r\n0\r\n\r\n".utf8), "a client can tell")
            // The other one stays, for longer than a viewer may be late.
            for _ in 0..<40 {
                number += 1
                try await link.send([SampleStream.accessUnit(number, key: false)], session: session.id)
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(try await relay.session(session.id)["viewers"] == 1)
            answers.cancel()
            _ = try await relay.post("/screencapture/\(session.id)/stop")
            _ = try await quick.readToEnd()
        }
    }
}
