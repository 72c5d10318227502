import ArgumentParser
import Foundation
import TestSupport

/// How soon a joining viewer sees a picture, and how old that picture is.
struct Joins: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Joins to a session of 1280x720 at 30 pictures a second: the time to the first picture, and how old the newest is then."
    )

    @Option(help: "How many join, 50 to 550 ms apart.")
    var joins = 500

    @Flag(help: "A static screen instead of one that moves.")
    var still = false

    @Flag(help: "All begin at a keyframe of their own instead of the cached pictures.")
    var live = false

    @Flag(help: "An on-demand session: it encodes only while it has viewers, and it has none before each join.")
    var asleep = false

    /// From the join to the check of the newest picture, ns.
    private static let look: Int64 = 1_000_000_000

    private struct Join {
        /// Monotonic ns.
        let start: Int64
        let viewer: ScrcpyViewer
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("joins-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let relay = try await RelayProcess(
            arguments: [
                "--state-file", "none", "--session-port-base", "0", "--log-level", "warning",
                "--config", try configuration(in: folder).path,
            ]
        )
        defer { relay.terminate() }
        try await relay.post("/screencapture/broadcast/start")
        let session = try await relay.startSession([
            "framing": "scrcpy", "bitrate": 2_000_000, "join": live ? "live" : "cache", "onDemand": asleep,
            "width": 1280, "height": 720,
        ])
        let (id, port) = (session.integer("id"), session.integer("port"))
        let epoch = try sessionEpoch(relay, id)
        if !asleep {
            _ = try await eventually("pictures") {
                let counters = try await relay.get("/screencapture/\(id)").object("counters").object("relay")
                return counters.integer("pictures") > 60 ? true : nil
            }
        }
        var (first, ages, missing): ([Int64], [Int64], Int) = ([], [], 0)
        var pending: [Join] = []
        func conclude(before now: Int64) {
            while let join = pending.first, join.start + Self.look < now {
                pending.removeFirst()
                let pictures = join.viewer.pictures
                join.viewer.hangUp()
                guard let picture = pictures.first, picture.isKeyframe else {
                    missing += 1
                    continue
                }
                first.append(picture.arrived - join.start)
                let newest = pictures.last { $0.arrived <= join.start + Self.look } ?? picture
                ages.append(join.start + Self.look - (epoch + newest.pts * 1000))
            }
        }
        for number in 1...joins {
            if asleep { try await waitUntilAsleep(relay, id) }
            let start = monotonicNow()
            pending.append(Join(start: start, viewer: try ScrcpyViewer(port: port)))
            try await Task.sleep(for: .milliseconds(asleep ? 1200 : .random(in: 50...550)))
            conclude(before: monotonicNow() - 100_000_000)
            if number % 100 == 0 { FileHandle.standardError.write(Data("joins: \(number) of \(joins)\n".utf8)) }
        }
        try await Task.sleep(for: .milliseconds(1300))
        conclude(before: .max)
        let keyframes = try await relay.get("/screencapture/\(id)").object("counters").object("relay").integer(
            "keyframes"
        )
        print("\(joins) joins, \(still ? "still" : "moving"), \(live ? "live" : "cache")\(asleep ? ", asleep" : "")")
        print("                        p50 ms   p99 ms   greatest")
        report("first picture", first)
        report("age 1 s later (PTS)", ages)
        print("without a picture after 1 s: \(missing); keyframes of the session: \(keyframes)")
    }

    private func report(_ name: String, _ values: [Int64]) {
        let numbers = [0.5, 0.99, 1].map { String(format: "%8.1f", quantile(values, $0)) }.joined(separator: " ")
        print("\(name.padding(toLength: 20, withPad: " ", startingAt: 0)) \(numbers)")
    }

    /// The source: a moving test pattern, or a program whose screenshots are always the same.
    private func configuration(in folder: URL) throws -> URL {
        let file = folder.appendingPathComponent("relay.yaml")
        var text = "fallback: none\nsource: {kind: test-pattern, width: 1280, height: 720, fps: 30}\n"
        if still {
            let picture = folder.appendingPathComponent("picture.ppm")
            var pixels = Data("P6 1280 720 255\n".utf8)
            for place in 0..<1280 * 720 {
                let pixel: [UInt8] = [UInt8(place / 7 & 255), UInt8(place / 1280 & 255), UInt8(place & 255)]
                pixels.append(contentsOf: pixel)
            }
            try pixels.write(to: picture)
            text = """
                fallback: none
                devices:
                  default:
                    source: {kind: screenshot}
                    screenshotCommand: [cat, "\(picture.path)"]

                """
        }
        try Data(text.utf8).write(to: file)
        return file
    }

    private func waitUntilAsleep(_ relay: RelayProcess, _ id: Int) async throws {
        _ = try await eventually("the session's sleep") {
            (try await relay.get("/screencapture/\(id)")["asleep"] as? NSNumber)?.boolValue == true ? true : nil
        }
    }

    /// The monotonic instant of PTS 0, ns, from the first message of a WebSocket.
    private func sessionEpoch(_ relay: RelayProcess, _ id: Int) throws -> Int64 {
        let descriptor = try Connection(port: relay.httpPort).descriptor
        defer { close(descriptor) }
        let request = """
            GET /screencapture/\(id)/ws HTTP/1.1\r
            Host: 127.0.0.1\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            \r

            """
        _ = send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL))
        var text = ""
        while true {
            if let place = text.range(of: #""epoch":[0-9]+[,}]"#, options: .regularExpression) {
                return Int64(text[place].filter(\.isNumber)) ?? 0
            }
            var bytes = [UInt8](repeating: 0, count: 4096)
            let received = recv(descriptor, &bytes, bytes.count, 0)
            guard received > 0 else { throw NeverCame(description: "the session's epoch") }
            text += String(decoding: bytes[..<received], as: UTF8.self)
        }
    }
}
