import FoundationEssentials
import Glibc

/// Finds out whether a program of this machine may pass on calls of other machines, as `ssh -L`, socat and proxies do:
/// whether other machines can reach it by TCP.
package enum Forwarding {
    /// A TCP socket in the kernel's list (proc_net(5), `tcp` and `tcp6`).
    package struct Socket: Equatable {
        package enum State: Equatable { case established, listening, other }

        package let state: State
        /// Whether its own address is a loopback address.
        package let isLocalLoopback: Bool
        package let isRemoteLoopback: Bool
        package let port: UInt16
        package let inode: UInt64

        /// Reads a line of the list; `nil` if it is not a socket.
        package init?(_ line: some Collection<UInt8>) {
            // `sl: local remote st queues timer retransmits uid timeout inode …`
            let words = line.split(separator: UInt8(ascii: " "), maxSplits: 10)
                .map { String(decoding: $0, as: UTF8.self) }
            guard words.count > 9, let local = Self.address(words[1]), let remote = Self.address(words[2]),
                let inode = UInt64(words[9])
            else { return nil }
            state =
                switch words[3] {
                case "01": .established
                case "0A": .listening
                default: .other
                }
            isLocalLoopback = LocalUser.isLoopback(local.bytes)
            isRemoteLoopback = LocalUser.isLoopback(remote.bytes)
            (port, self.inode) = (local.port, inode)
        }

        /// Reads an address, whose words are as they lie in memory.
        private static func address(_ text: String) -> (bytes: [UInt8], port: UInt16)? {
            let parts = text.split(separator: ":")
            guard parts.count == 2, let port = UInt16(parts[1], radix: 16), parts[0].utf8.count % 8 == 0 else {
                return nil
            }
            var bytes: [UInt8] = []
            var rest = parts[0]
            while !rest.isEmpty {
                guard let word = UInt32(rest.prefix(8), radix: 16) else { return nil }
                withUnsafeBytes(of: word) { bytes += $0 }
                rest = rest.dropFirst(8)
            }
            return (bytes, port)
        }
    }

    /// Returns why the program that has a socket may speak for others, for people; `nil` if it cannot be reached from
    /// other machines.
    ///
    /// - Parameter inode: The socket's inode.
    static func objection(toOwnerOf inode: UInt64) -> String? {
        let owned = sockets(ofProcessesWith: inode)
        guard !owned.isEmpty else { return "no process of the relay's user has the caller's socket" }
        guard let port = reachablePort(of: owned, among: all()) else { return nil }
        return "the calling program takes connections from other machines at port \(port), so it may speak for others"
    }

    /// Returns a port at which other machines reach a program: one that it listens at, or one of a connection that
    /// another machine has opened.
    ///
    /// - Parameter owned: The inodes of the program's sockets.
    package static func reachablePort(of owned: Set<UInt64>, among sockets: [Socket]) -> UInt16? {
        let listening = Set(sockets.lazy.filter { $0.state == .listening }.map(\.port))
        return sockets.first { socket in
            guard owned.contains(socket.inode) else { return false }
            return switch socket.state {
            case .listening: !socket.isLocalLoopback
            case .established: !socket.isRemoteLoopback && listening.contains(socket.port)
            case .other: false
            }
        }?.port
    }

    private static func all() -> [Socket] {
        ["tcp", "tcp6"].flatMap { name -> [Socket] in
            guard let list = (try? PeerUser.read("/proc/self/net/\(name)")) ?? nil else { return [] }
            return list.split(separator: UInt8(ascii: "\n")).dropFirst().compactMap { Socket($0) }
        }
    }

    /// Returns the inodes of all sockets of the processes that have a socket, or of this socket alone if the relay
    /// itself has it. Processes of other users cannot be looked into.
    private static func sockets(ofProcessesWith inode: UInt64) -> Set<UInt64> {
        var sockets: Set<UInt64> = []
        let own = "\(getpid())"
        for process in names(in: "/proc") where process.utf8.first.map({ (0x30...0x39).contains($0) }) ?? false {
            let folder = "/proc/\(process)/fd"
            let held = Set(names(in: folder).compactMap { socket(at: "\(folder)/\($0)") })
            guard held.contains(inode) else { continue }
            sockets.formUnion(process == own ? [inode] : held)
        }
        return sockets
    }

    private static func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    }

    /// Returns the inode of the socket that a descriptor's link, `socket:[INODE]`, stands for.
    private static func socket(at link: String) -> UInt64? {
        var text = [UInt8](repeating: 0, count: 64)
        let count = text.withUnsafeMutableBytes { bytes in
            bytes.withMemoryRebound(to: CChar.self) { text in
                text.baseAddress.map { readlink(link, $0, text.count) } ?? 0
            }
        }
        let name = String(decoding: text.prefix(max(0, count)), as: UTF8.self)
        guard name.hasPrefix("socket:["), name.hasSuffix("]") else { return nil }
        return UInt64(name.dropFirst(8).dropLast())
    }
}
