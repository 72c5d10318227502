import Foundation
import Glibc
import Media
import Synchronization
import TestSupport

/// A viewer that stays: it decodes everything, records when each picture came and what it shows, and reconnects.
final class SteadyViewer: @unchecked Sendable {
    // Unchecked because the process and its pipes are touched by one thread each after the initialiser.

    struct Picture: Sendable {
        /// µs
        var pts: Int64
        /// When its last byte was read, monotonic ns.
        var arrived: Int64
        var isKeyframe: Bool
        /// When the decoder returned it, monotonic ns.
        var decoded: Int64?
        /// The counter value that it shows.
        var counter: Int?
    }

    struct State: Sendable {
        var pictures: [Picture] = []
        var decoded = 0
        /// The decoder's messages.
        var complaints: [String] = []
        /// Connections after the first that brought anything. One that a dying relay's socket still accepted does not
        /// count.
        var reconnects = 0
        var hasEnded = false
    }

    private static let size = PictureSize(width: 320, height: 180)
    private let state = Mutex(State())
    private let port: Int
    private let process = Process()
    private let (input, output, errors) = (Pipe(), Pipe(), Pipe())

    init(port: Int) throws {
        self.port = port
        let size = Self.size
        process.executableURL = URL(fileURLWithPath: "/usr/bin/ffmpeg")
        process.arguments = [
            "-v", "warning", "-err_detect", "explode", "-flags", "low_delay", "-threads", "1",
            "-probesize", "32", "-fpsprobesize", "0", "-f", "h264", "-i", "pipe:0", "-fps_mode", "passthrough",
            "-vf", "scale=\(size.width):\(size.height):flags=area:in_range=tv:out_range=pc",
            "-f", "rawvideo", "-pix_fmt", "gray", "-flush_packets", "1", "pipe:1",
        ]
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try Programs.start(process)
        for body in [receive, takeDecoded, listen] { Thread(block: body).start() }
    }

    var current: State { state.withLock { $0 } }

    /// Returns the pictures from index `first` on.
    func pictures(from first: Int) -> [Picture] { state.withLock { Array($0.pictures[first...]) } }

    var pictureCount: Int { state.withLock { $0.pictures.count } }

    var decodedCount: Int { state.withLock { $0.decoded } }

    var reconnects: Int { state.withLock { $0.reconnects } }

    func end() {
        state.withLock { $0.hasEnded = true }
        try? input.fileHandleForWriting.close()
        process.terminate()
        process.waitUntilExit()
    }

    // MARK: - Threads

    @Sendable private func receive() {
        var connections = 0
        while !state.withLock({ $0.hasEnded }) {
            guard let connection = try? Connection(port: port) else {
                usleep(10_000)
                continue
            }
            if take(from: connection, isReconnect: connections > 0) { connections += 1 }
            connection.close()
        }
    }

    /// Returns whether the connection brought anything.
    private func take(from connection: Connection, isReconnect: Bool) -> Bool {
        var parameterSets: [UInt8] = []
        var hasBegun = false
        while let header = connection.read(exactly: 12) {
            if !hasBegun, isReconnect { state.withLock { $0.reconnects += 1 } }
            hasBegun = true
            let word = header[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard let bytes = connection.read(exactly: header[8..<12].reduce(0) { $0 << 8 | Int($1) }) else { break }
            if word >> 63 == 1 {
                parameterSets = bytes
                continue
            }
            let isKeyframe = word >> 62 & 1 == 1
            let picture = Picture(pts: Int64(word & (1 << 62 - 1)), arrived: monotonicNow(), isKeyframe: isKeyframe)
            let isWanted = state.withLock { state in
                state.pictures.append(picture)
                return !state.hasEnded
            }
            guard isWanted else { break }
            let unit = (isKeyframe ? parameterSets : []) + bytes
            try? input.fileHandleForWriting.write(contentsOf: Data(unit))
        }
        return hasBegun
    }

    @Sendable private func takeDecoded() {
        // FileHandle keeps what it has read.
        var plane = [UInt8](repeating: 0, count: Self.size.width * Self.size.height)
        while read(&plane) {
            let now = monotonicNow()
            let counter = Pictures.counter(luma: plane, size: Self.size)
            state.withLock { state in
                // If more pictures come out than went in, the stream is broken, and the decoder says so.
                guard state.decoded < state.pictures.count else { return }
                state.pictures[state.decoded].decoded = now
                state.pictures[state.decoded].counter = counter
                state.decoded += 1
            }
        }
    }

    /// Fills `plane` with the decoder's next bytes. Returns whether there were enough.
    private func read(_ plane: inout [UInt8]) -> Bool {
        var count = 0
        while count < plane.count {
            let descriptor = output.fileHandleForReading.fileDescriptor
            let received = plane.withUnsafeMutableBytes {
                Glibc.read(descriptor, $0.baseAddress! + count, $0.count - count)
            }
            guard received > 0 else { return false }
            count += received
        }
        return true
    }

    @Sendable private func listen() {
        var line: [UInt8] = []
        while let bytes = try? errors.fileHandleForReading.read(upToCount: 1), let byte = bytes.first {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            let text = String(decoding: line, as: UTF8.self)
            line = []
            // ffmpeg looks for a frame rate, which the stream does not have.
            if text.contains("not enough frames to estimate rate") { continue }
            // The pictures have no times either, and two of those that ffmpeg invents may be equal.
            if text.hasPrefix("[rawvideo @"), text.contains("non monotonically increasing dts") { continue }
            state.withLock { if !$0.hasEnded { $0.complaints.append(text) } }
        }
    }
}
