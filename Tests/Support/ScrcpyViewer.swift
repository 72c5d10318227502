import Foundation
import Synchronization

/// A viewer of a session's TCP port in scrcpy framing: a thread that reads until the end.
package final class ScrcpyViewer: Sendable {
    package struct Picture: Sendable {
        /// µs
        package var pts: Int64
        /// When its last byte was read, monotonic ns.
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
    private let descriptor: Int32

    package init(port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else {
            close(descriptor)
            throw NeverCame(description: "no connection to port \(port): \(String(cString: strerror(errno)))")
        }
        let thread = Thread { [self] in read() }
        thread.start()
    }

    package var current: State { state.withLock { $0 } }

    package var pictures: [Picture] { current.pictures }

    /// The whole stream as Annex B.
    package var stream: [UInt8] { pictures.flatMap(\.bytes) }

    /// Ends the connection from this side.
    package func hangUp() {
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    private func read() {
        while let header = readExactly(12) {
            let word = header[0..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            let size = header[8..<12].reduce(0) { $0 << 8 | Int($1) }
            guard let bytes = readExactly(size) else { break }
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
        close(descriptor)
        state.withLock { $0.isClosed = true }
    }

    private func readExactly(_ count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let limit = count - bytes.count
            var received = 0
            let part = [UInt8](unsafeUninitializedCapacity: limit) { memory, initialized in
                received = recv(descriptor, memory.baseAddress, limit, 0)
                initialized = max(0, received)
            }
            guard received > 0 else { return nil }
            bytes += part
        }
        return bytes
    }
}

/// The machine's monotonic clock, ns.
package func monotonicNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}
