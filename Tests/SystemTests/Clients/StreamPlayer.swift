import Foundation
import Media
import TestSupport
import Testing

/// How a session is watched.
enum StreamFormat: String, CaseIterable, Sendable {
    case bare = "stream.h26x"
    case transport = "stream.ts"
    case mp4 = "stream.mp4"
    case motionJPEG = "stream.mjpeg"
    case port = "TCP port"

    /// Whether pictures have times in it.
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

/// What a client showed of a stream.
struct Showing: Sendable {
    /// From the client's start to its first picture.
    var firstPicture: Duration
    /// The time of the first picture as the client tells it, in s; nil if it tells none.
    var firstTime: Double?
    /// What the client complained of.
    var messages: [String]
}

/// A program with which people play streams.
protocol StreamPlayer: Sendable, CustomTestStringConvertible {
    /// Plays a stream for half a second or more.
    func watch(_ stream: LiveStream, of relay: WatchedRelay) throws -> Showing

    /// Returns how long a saved file is by what the client says of it, in s.
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

/// What libavformat is told to look at before it plays, in µs. By default it looks at 5 s of a live stream.
let analyzeDuration = 500_000
/// How many pictures a client shows before a test believes it.
let enoughPictures = 15
