import Foundation
import TestSupport

/// nginx with one worker, which serves a file from memory at a session's bitrate: as many bytes as a session's viewers
/// get, without a delay to measure.
final class Nginx {
    private let scratch: Scratch
    private let process = Process()
    private let port: Int

    init(kilobits: Int) async throws {
        let scratch = try Scratch()
        self.scratch = scratch
        let socket = try Sink()
        port = socket.port
        // Longer than any viewer reads.
        _ = try scratch.write([UInt8](repeating: 0xAA, count: kilobits * 125 * 120), to: "stream")
        let folder = scratch.file("").path
        let configuration = """
            daemon off; worker_processes 1; worker_rlimit_nofile 20000; pid \(folder)/pid; error_log \(folder)/errors;
            \(geteuid() == 0 ? "user root;" : "")
            events { worker_connections 10000; }
            http {
                access_log off; sendfile on; tcp_nodelay on;
                client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
                uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi;
                server { listen 127.0.0.1:\(port); root \(folder); limit_rate \(kilobits * 125); }
            }
            """
        let file = try scratch.write([UInt8](configuration.utf8), to: "nginx.conf")
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["PATH=/usr/sbin:/usr/bin", "nginx", "-e", "\(folder)/errors", "-c", file.path]
        process.standardInput = FileHandle.nullDevice
        socket.close()
        try Programs.start(process)
        let process = process
        let port = port
        _ = try await eventually("nginx") {
            guard process.isRunning else { throw BenchError(description: "nginx does not run here") }
            guard let connection = try? Connection(port: port) else { return nil as Bool? }
            connection.close()
            return true
        }
    }

    func end() {
        process.terminate()
        process.waitUntilExit()
    }

    /// CPU of its processes while viewers read.
    func measure(viewers: Int, seconds: Int) async throws -> [String: Double] {
        let readers = try (0..<viewers).map { _ in
            let connection = try Connection(port: port)
            connection.send([UInt8]("GET /stream HTTP/1.1\r\nHost: bench\r\n\r\n".utf8))
            return connection
        }
        let drain = Drain(readers.map(\.descriptor))
        defer {
            drain.end()
            for reader in readers { reader.close() }
        }
        try await Task.sleep(for: .seconds(2))
        let children = try String(
            contentsOfFile: "/proc/\(process.processIdentifier)/task/\(process.processIdentifier)/children",
            encoding: .utf8
        ).split(separator: " ").compactMap { Int32($0) }
        let (meter, before) = (try Meter([process.processIdentifier] + children), drain.count)
        try await Task.sleep(for: .seconds(seconds))
        let (used, after) = (meter.read(), drain.count)
        return [
            "cpu ms/s": used.cpu / used.seconds,
            "kbit/s/viewer": Double(after - before) * 8 / 1000 / used.seconds / Double(viewers),
            "KiB": try (children + [process.processIdentifier]).reduce(0) { $0 + (try memory(of: $1)) },
        ]
    }
}
