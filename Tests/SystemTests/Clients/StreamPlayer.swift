import Foundation
import Media
import TestSupport
import Testing

/// A way to watch a session.
enum StreamFormat: String, CaseIterable, Sendable {
    case bare = "stream.h26x"
    case transport = "stream.ts"
    case mp4 = "stream.mp4"
    case motionJPEG = "stream.mjpeg"
    case port = "TCP port"

    /// Whether the format has timestamps.
    var hasTimes: Bool { self == .transport || self == .mp4 }
}

/// A session in one format, as a client sees it.
struct LiveStream: Sendable, Equatable, CustomTestStringConvertible {
    static let fps = 30

    var format: StreamFormat
    var codec: Codec
    /// The session's number; sessions are counted from 1 in the order of ``Codec/allCases``.
    var session: Int { codec == .h264 ? 1 : 2 }
    var path: String {
        let base = "/screencapture/\(session)/stream."
        return switch format {
        case .bare, .port: base + codec.rawValue
        case .transport: base + "ts"
        case .mp4: base + "mp4"
        case .motionJPEG: base + "mjpeg?fps=\(Self.fps)"
        }
    }
    var testDescription: String { format == .motionJPEG ? format.rawValue : "\(format.rawValue), \(codec.rawValue)" }

    /// Every format of a session of each codec; JPEG pictures are the same in both.
    static let all = StreamFormat.allCases.flatMap { format in
        (format == .motionJPEG ? [.h264] : Codec.allCases).map { LiveStream(format: format, codec: $0) }
    }
}

/// The pictures and messages of a client.
struct Showing: Sendable {
    /// From the client's start to its first picture.
    var firstPicture: Duration
    /// The first picture's time in s, as the client reports it; `nil` if it reports none.
    var firstTime: Double?
    /// The client's complaints.
    var messages: [String]
}

/// A player for streams.
protocol StreamPlayer: Sendable, CustomTestStringConvertible {
    /// Plays a stream for half a second or more.
    func watch(_ stream: LiveStream, of relay: WatchedRelay) throws -> Showing

    /// Returns the length of a saved file in s, as the client reports it.
    func duration(of file: URL) throws -> Double
}

/// Where the sessions are.
struct WatchedRelay: Sendable {
    var httpPort: Int
    /// The sessions' own ports, in the order of their numbers.
    var sessionPorts: [Int]

    /// The address of a stream for players that take `http:` and `tcp:`.
    func url(_ stream: LiveStream) -> String {
        stream.format == .port ? "tcp://127.0.0.1:\(port(stream))" : "http://127.0.0.1:\(httpPort)\(stream.path)"
    }

    func port(_ stream: LiveStream) -> Int { sessionPorts[stream.session - 1] }
}

/// How much of a stream libavformat analyses before it plays, in µs. The default for a live stream is 5 s.
let analyzeDuration = 500_000
/// How many pictures a client must show.
let enoughPictures = 15
