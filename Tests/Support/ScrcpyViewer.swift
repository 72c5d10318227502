import Foundation
import Synchronization

/// A viewer of a session's TCP port in scrcpy framing: a thread that reads until the end.
package final class ScrcpyViewer: Sendable {
    package struct Picture: Sendable {
        /// The PTS, in µs.
        package var pts: Int64
        /// When its last byte was read, in monotonic ns.
        package var arrived: Int64
        package var isKeyframe: Bool
        package var bytes: [UInt8]
    }

    package struct State: Sendable {
        /// The last config packet's bytes.
        package var parameterSets: [UInt8] = []
        package var pictures: [Picture] = []
        /// Whether the relay closed the connection.
        package var isClosed = false
    }

    private let state = Mutex(State())
    private let connection: Connection

    package init(port: Int) throws {
        connection = try Connection(port: port)
        let thread = Thread { [self] in read() }
        thread.start()
    }

    package var current: State { state.withLock { $0 } }

    package var pictures: [Picture] { current.pictures }

    /// The whole stream as Annex B.
    package var stream: [UInt8] { pictures.flatMap(\.bytes) }

    /// Ends the connection from this side.
    package func hangUp() {
        shutdown(connection.descriptor, Int32(SHUT_RDWR))
    }

    private func read() {
        while let header = connection.read(exactly: 12) {
            let word = header[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let size = header[8..<12].reduce(0) { $0 << 8 | Int($1) }
            guard let bytes = connection.read(exactly: size) else { break }
            let arrived = monotonicNow()
            state.withLock { state in
                if word >> 63 == 1 {
                    state.parameterSets = bytes
                } else {
                    let pts = Int64(word & (1 << 62 - 1))
                    // The config packet goes before the keyframe that it belongs to.
                    let isKeyframe = word >> 62 & 1 == 1
                    let prefix = isKeyframe ? state.parameterSets : []
                    state.pictures.append(
                        Picture(pts: pts, arrived: arrived, isKeyframe: isKeyframe, bytes: prefix + bytes)
                    )
                }
            }
        }
        connection.close()
        state.withLock { $0.isClosed = true }
    }
}

/// The machine's monotonic clock, in ns.
package func monotonicNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
