import CLinux
import FoundationEssentials
import Glibc
import Program

/// A connection to the sway of WAYLAND_DISPLAY by its IPC socket (sway-ipc(7)).
struct SwayConnection {
    enum Question: UInt32 {
        case outputs = 3
        case tree = 4
    }

    /// How a command of sway ended.
    private struct Result: Decodable {
        let success: Bool
        let error: String?
    }

    private static let runCommand: UInt32 = 0
    /// How long sway may take for one read or write, in ms.
    private static let answerTime: Int32 = 2_000
    private static let magic = Array("i3-ipc".utf8)
    private static let headerLength = 14
    /// The longest answer, in bytes.
    private static let longestAnswer = 16 << 20

    private let socket: Int32

    /// Returns `nil` if the compositor is another one.
    init?() throws(SwayFailure) {
        guard let compositor = Self.compositor else { return nil }
        // sway makes the socket at the path in SWAYSOCK, if that was set when it started.
        let paths = [
            "\(compositor.folder)/sway-ipc.\(getuid()).\(compositor.pid).sock", EnvironmentVariable.value("SWAYSOCK"),
        ]
        for path in paths.compactMap(\.self) where access(path, F_OK) == 0 {
            let socket = clinux_connect_local(path, Self.answerTime)
            guard socket >= 0 else {
                let reason = String(cString: strerror(errno))
                throw SwayFailure("sway's socket \(path) does not answer: \(reason).")
            }
            if clinux_peer(socket) == compositor.pid {
                self.socket = socket
                return
            }
            // Another sway of this user.
            Glibc.close(socket)
        }
        return nil
    }

    func close() { Glibc.close(socket) }

    /// The process that listens at the Wayland socket, 0 in another process namespace, and the folder of sockets.
    private static var compositor: (pid: pid_t, folder: String)? {
        guard let folder = EnvironmentVariable.value("XDG_RUNTIME_DIR"),
            let display = EnvironmentVariable.value("WAYLAND_DISPLAY")
        else { return nil }
        let wayland = clinux_connect_local(display.hasPrefix("/") ? display : "\(folder)/\(display)", answerTime)
        guard wayland >= 0 else { return nil }
        defer { Glibc.close(wayland) }
        let pid = clinux_peer(wayland)
        return pid >= 0 ? (pid, folder) : nil
    }

    /// Runs a command (sway(5)).
    ///
    /// - Parameter deed: What sway did not do if it refuses, as in "sway did not focus the window".
    func run(_ command: String, _ deed: String) throws(SwayFailure) {
        let results = try answer(Self.runCommand, command, as: [Result].self)
        guard let failed = results.first(where: { !$0.success }) else { return }
        throw SwayFailure("sway did not \(deed): \(failed.error ?? "it gives no reason").")
    }

    func ask<Answer: Decodable>(_ question: Question, as answer: Answer.Type) throws(SwayFailure) -> Answer {
        try self.answer(question.rawValue, "", as: answer)
    }

    private func answer<Answer: Decodable>(
        _ message: UInt32,
        _ text: String,
        as: Answer.Type
    ) throws(SwayFailure) -> Answer {
        var header = Self.magic
        for word in [UInt32(text.utf8.count), message] { withUnsafeBytes(of: word) { header += $0 } }
        var rest = (header + Array(text.utf8))[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, clinux_no_signal) }
            guard count > 0 else { throw .silent }
            rest = rest.dropFirst(count)
        }
        let head = try read(Self.headerLength)
        let length = head[6..<10].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard head.starts(with: Self.magic), length <= Self.longestAnswer else {
            throw SwayFailure("sway's socket answers in another protocol.")
        }
        let bytes = try read(length)
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(bytes))
        } catch {
            throw SwayFailure("sway's answer is not as expected: \(error)")
        }
    }

    private func read(_ count: Int) throws(SwayFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var length = 0
        while length < count {
            let read = bytes[length...].withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
            guard read > 0 else { throw .silent }
            length += read
        }
        return bytes
    }
}

/// Why sway did not do what it was asked, and what to do, for people.
struct SwayFailure: Error {
    let detail: String

    init(_ detail: String) { self.detail = detail }

    static let silent = SwayFailure("sway does not answer.")
}
