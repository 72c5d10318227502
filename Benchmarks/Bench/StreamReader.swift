import Foundation
import Synchronization
import TestSupport

/// A thread that reads a TCP connection to its end and records when bytes came.
final class StreamReader: Sendable {
    struct Stream {
        var bytes: [UInt8] = []
        /// Where each piece that was read ends, and when it had come, monotonic ns.
        var pieces: [(end: Int, arrived: Int64)] = []

        /// When the byte before `end` had come.
        func arrival(of end: Int) -> Int64? {
            var (low, high) = (0, pieces.count)
            while low < high {
                let middle = (low + high) / 2
                if pieces[middle].end < end { low = middle + 1 } else { high = middle }
            }
            return low < pieces.count ? pieces[low].arrived : nil
        }
    }

    private let stream = Mutex(Stream())
    private let descriptor: Int32
    private let done = DispatchSemaphore(value: 0)

    /// - Parameter descriptor: A connection, which is closed at its end.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        Thread { [self] in read() }.start()
    }

    var count: Int { stream.withLock { $0.bytes.count } }

    /// Hangs up, and returns what has come. Called once.
    func end() -> Stream {
        shutdown(descriptor, Int32(SHUT_RDWR))
        done.wait()
        close(descriptor)
        return stream.withLock { $0 }
    }

    private func read() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let received = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            guard received > 0 else { break }
            let arrived = monotonicNow()
            stream.withLock { stream in
                stream.bytes += UnsafeRawBufferPointer(buffer)[..<received]
                stream.pieces.append((stream.bytes.count, arrived))
            }
        }
        done.signal()
    }
}

/// A port on loopback that one peer connects to and sends its stream.
final class Sink {
    let port: Int
    private var listener: Int32

    init() throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listens = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard listens else { throw BenchError(description: "no port on loopback: \(String(cString: strerror(errno)))") }
        port = Int(UInt16(bigEndian: address.sin_port))
        self.listener = listener
    }

    deinit { close() }

    /// Releases the port for another process.
    func close() {
        if listener >= 0 { Glibc.close(listener) }
        listener = -1
    }

    /// Waits for the peer; `isAlive` says whether it may still come.
    func accept(while isAlive: () -> Bool) async throws -> StreamReader {
        try await eventually("the peer's connection") {
            var interest = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            if poll(&interest, 1, 0) > 0 {
                return StreamReader(Glibc.accept(listener, nil, nil))
            }
            guard isAlive() else { throw BenchError(description: "the peer has ended") }
            return nil
        }
    }
}
