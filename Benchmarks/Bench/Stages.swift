import Foundation
import TestSupport

/// How long each stage of a picture takes, as reported to a second viewer on a WebSocket.
final class Stages {
    private struct Picture {
        var end: Int
        /// Monotonic ns.
        var captured: Int64
        var encoded: Int64
        var relayed: Int64
        var arrived: Int64
    }

    private let relay: RelayProcess
    private let session: Int
    private let reader: StreamReader
    private var encodeMs = Double.nan

    init(relay: RelayProcess, session: Int) throws {
        self.relay = relay
        self.session = session
        let connection = try Connection(port: relay.httpPort)
        let request = """
            GET /screencapture/\(session)/ws HTTP/1.1\r
            Host: 127.0.0.1\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            \r

            """
        connection.send([UInt8](request.utf8))
        reader = StreamReader(connection.descriptor)
    }

    /// Asks how long encodes took. The session must still exist.
    func encode() async throws {
        let agent = try await relay.get("/screencapture/\(session)").object("counters").object("agent")
        let pictures = ["encodedLive", "refined", "reencodedRepeats"].reduce(0) { $0 + agent.integer($1) }
        encodeMs = ((agent.object("encodeTimes")["sumMs"] as? NSNumber)?.doubleValue ?? .nan) / Double(max(1, pictures))
    }

    /// Medians of the pictures that came in a span of time, ms: `stage delivery`, from the drawing to the frame's
    /// instant of capture; `stage encoded`, from there to the end of its encoding; `stage link`, to the relay; `stage
    /// viewer`, to the last byte at the viewer; `encode mean ms` of the session.
    func figures(from begin: Int64, to end: Int64, stamps: [Int: Int64]) throws -> [String: Double] {
        let (stream, pictures) = parse(reader.end())
        let read = try PictureReader.read(stream, scene: "scroll")
        let values = Dictionary(read.pictures.map { ($0.end, $0.value) }) { first, _ in first }
        var seen: Set<Int> = []
        var stages: [String: Samples] = [:]
        for picture in pictures where picture.arrived >= begin && picture.arrived < end {
            guard let value = values[picture.end] ?? nil, seen.insert(value).inserted, let stamp = stamps[value] else {
                continue
            }
            let instants = [stamp, picture.captured, picture.encoded, picture.relayed, picture.arrived]
            for (name, (from, to)) in zip(
                ["delivery", "encoded", "link", "viewer"],
                zip(instants, instants.dropFirst())
            ) {
                stages["stage \(name) ms", default: Samples()].append(Double(to - from) / 1e6)
            }
        }
        return stages.mapValues(\.median).merging(["encode mean ms": encodeMs]) { $1 }
    }

    /// The pictures' bytes one after the other, and each picture's place among them.
    private func parse(_ received: StreamReader.Stream) -> (stream: [UInt8], pictures: [Picture]) {
        var (stream, pictures, message): ([UInt8], [Picture], [UInt8]) = ([], [], [])
        let bytes = received.bytes
        guard var place = Data(bytes).range(of: Data("\r\n\r\n".utf8))?.upperBound else { return ([], []) }
        func number(_ at: Int, _ count: Int) -> Int { bytes[at..<(at + count)].reduce(0) { $0 << 8 | Int($1) } }
        while place + 10 <= bytes.count {
            let (isLast, short) = (bytes[place] & 0x80 != 0, Int(bytes[place + 1] & 0x7F))
            let (length, header) =
                short < 126 ? (short, 2) : short == 126 ? (number(place + 2, 2), 4) : (number(place + 2, 8), 10)
            let end = place + header + length
            guard end <= bytes.count else { break }
            message += bytes[(place + header)..<end]
            place = end
            guard isLast else { continue }
            if message.count > 36, message[0] == 2, let arrived = received.arrival(of: end) {
                func instant(_ at: Int) -> Int64 { message[at..<(at + 8)].reduce(0) { $0 << 8 | Int64($1) } }
                stream += message[36...]
                pictures.append(
                    Picture(
                        end: stream.count,
                        captured: instant(12),
                        encoded: instant(20),
                        relayed: instant(28),
                        arrived: arrived
                    )
                )
            }
            message = []
        }
        return (stream, pictures)
    }
}
