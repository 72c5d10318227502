import CLinux
import FoundationEssentials
import Glibc
import Program
import Wire

/// The windows of sway, by its IPC socket (sway-ipc(7)).
struct SwayWindows: DesktopWindows {
    private enum Message: UInt32 {
        case runCommand = 0
        case getTree = 4
    }

    /// How long sway may take for one read or write, in ms.
    private static let answerTime: Int32 = 2_000
    private static let magic = Array("i3-ipc".utf8)
    private static let headerLength = 14
    /// The longest answer, in bytes.
    private static let longestAnswer = 16 << 20

    private let socket: Int32

    /// Connects to the sway of WAYLAND_DISPLAY. Returns `nil` if the compositor is another one.
    init?() throws(WindowFailure) {
        guard let compositor = Self.compositor else { return nil }
        // sway makes the socket at the path in SWAYSOCK, if that was set when it started.
        let paths = [
            "\(compositor.folder)/sway-ipc.\(getuid()).\(compositor.pid).sock", EnvironmentVariable.value("SWAYSOCK"),
        ]
        for path in paths.compactMap(\.self) where access(path, F_OK) == 0 {
            let socket = clinux_connect_local(path, Self.answerTime)
            guard socket >= 0 else {
                let reason = String(cString: strerror(errno))
                throw WindowFailure(.failed, "sway's socket \(path) does not answer: \(reason).")
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

    func windows() throws(WindowFailure) -> [DesktopWindow] {
        var found: [DesktopWindow] = []
        try answer(.getTree, "", as: SwayNode.self).collect(&found)
        // Ids count up.
        return found.sorted { $0.id < $1.id }
    }

    func focus(_ window: DesktopWindow) throws(WindowFailure) {
        let results = try answer(.runCommand, "[con_id=\(window.id)] focus", as: [SwayResult].self)
        guard let failed = results.first(where: { !$0.success }) else { return }
        throw WindowFailure(.failed, "sway did not focus the window: \(failed.error ?? "it gives no reason").")
    }

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

    private func answer<Answer: Decodable>(
        _ message: Message,
        _ text: String,
        as: Answer.Type
    ) throws(WindowFailure) -> Answer {
        var header = Self.magic
        for word in [UInt32(text.utf8.count), message.rawValue] { withUnsafeBytes(of: word) { header += $0 } }
        var rest = (header + Array(text.utf8))[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, clinux_no_signal) }
            guard count > 0 else { throw Self.silent }
            rest = rest.dropFirst(count)
        }
        let head = try read(Self.headerLength)
        let length = head[6..<10].reversed().reduce(0) { $0 << 8 | Int($1) }
        guard head.starts(with: Self.magic), length <= Self.longestAnswer else {
            throw WindowFailure(.failed, "sway's socket answers in another protocol.")
        }
        do {
            return try JSONDecoder().decode(Answer.self, from: Data(try read(length)))
        } catch let error as WindowFailure {
            throw error
        } catch {
            throw WindowFailure(.failed, "sway's answer is not as expected: \(error)")
        }
    }

    private func read(_ count: Int) throws(WindowFailure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var length = 0
        while length < count {
            let read = bytes[length...].withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
            guard read > 0 else { throw Self.silent }
            length += read
        }
        return bytes
    }

    private static let silent = WindowFailure(.failed, "sway does not answer.")
}

/// A container of sway's tree.
private struct SwayNode: Decodable {
    let id: Int
    /// The process of a window; other containers have none.
    let pid: Int32?
    let nodes: [SwayNode]?
    let floatingNodes: [SwayNode]?

    enum CodingKeys: String, CodingKey {
        case id, pid, nodes
        case floatingNodes = "floating_nodes"
    }

    func collect(_ windows: inout [DesktopWindow]) {
        if let pid, pid > 0 { windows.append(DesktopWindow(id: id, pid: pid)) }
        for node in (nodes ?? []) + (floatingNodes ?? []) { node.collect(&windows) }
    }
}

/// How a command of sway ended.
private struct SwayResult: Decodable {
    let success: Bool
    let error: String?
}
