import Access
import Files
import Glibc
package import NIOCore
import Program
import SystemPackage

/// Finds the user whose process is at the other end of a TCP connection within this machine.
///
/// SO_PEERCRED is for Unix sockets only. The kernel lists every TCP socket of the network namespace with its owner in
/// /proc/self/net/tcp and tcp6 (proc(5)). The peer's entry has the two addresses swapped. The search reads the whole
/// list, so it runs only for agents with the right token.
package enum PeerUser {
    /// The state of a socket that is open on both sides. Other sockets have no owner any more and are listed as root's.
    private static let established = "01"
    /// Longest list, bytes: enough for hundreds of thousands of sockets.
    private static let maximumSize = 64 << 20

    /// An open socket of this machine.
    package struct Socket: Equatable {
        package let user: UInt32
        package let inode: UInt64
    }

    /// Returns the user's id, or `nil` if it is unknown: the peer is gone, or is on another machine.
    ///
    /// - Parameters:
    ///   - peer: The other end's address.
    ///   - local: This end's.
    ///   - folder: The folder with the lists.
    /// - Throws: `Errno` if a list cannot be read, for example because no descriptors are left.
    package static func id(
        at peer: SocketAddress,
        connectedTo local: SocketAddress,
        in folder: String = "/proc/self/net"
    ) throws -> UInt32? {
        try socket(at: peer, connectedTo: local, in: folder)?.user
    }

    /// Returns the peer's socket.
    static func socket(
        at peer: SocketAddress,
        connectedTo local: SocketAddress,
        in folder: String = "/proc/self/net"
    ) throws -> Socket? {
        for (name, form) in [("tcp", Form.v4), ("tcp6", .v6)] {
            guard let peer = form.text(of: peer), let local = form.text(of: local),
                let list = try read("\(folder)/\(name)"),
                let socket = socket(in: list, at: peer, connectedTo: local)
            else { continue }
            return socket
        }
        return nil
    }

    /// Returns the open socket with these addresses from a list in the kernel's format.
    package static func socket(in list: some Collection<UInt8>, at peer: String, connectedTo local: String) -> Socket? {
        let wanted = Array("\(peer) \(local) \(established) ".utf8)
        for line in list.split(separator: UInt8(ascii: "\n")) {
            // `sl: local remote st queues timer retransmits uid timeout inode …`
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
            let fields = line[line.index(after: colon)...].drop { $0 == UInt8(ascii: " ") }
            guard fields.starts(with: wanted) else { continue }
            let words = fields.split(separator: UInt8(ascii: " "), maxSplits: 9).dropFirst(6)
                .map { String(decoding: $0, as: UTF8.self) }
            guard let user = words.first.flatMap({ UInt32($0) }) else { return nil }
            return Socket(user: user, inode: words.dropFirst(2).first.flatMap { UInt64($0) } ?? 0)
        }
        return nil
    }

    /// The address format of a list: the address's words as they lie in memory, then the port, all in hexadecimal.
    package enum Form {
        case v4, v6

        /// Returns the text of an address, or `nil` if the list cannot contain it.
        package func text(of address: SocketAddress) -> String? {
            var bytes = PeerAddress.bytes(of: address)
            switch self {
            case .v4: guard bytes.count == 4 else { return nil }
            case .v6:
                // IPv4 addresses as dual-stack sockets show them (RFC 4291, section 2.5.5.2).
                if bytes.count == 4 { bytes = Array(repeating: 0, count: 10) + [0xFF, 0xFF] + bytes }
                guard bytes.count == 16 else { return nil }
            }
            let words = bytes.withUnsafeBytes { bytes in
                stride(from: 0, to: bytes.count, by: 4).map { bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self) }
            }
            guard let port = address.port else { return nil }
            return words.map { Self.digits($0, 8) }.joined() + ":" + Self.digits(UInt32(port), 4)
        }

        private static func digits(_ value: UInt32, _ count: Int) -> String {
            String(value, radix: 16, uppercase: true).zeroPadded(to: count)
        }
    }

    /// Reads a list. Returns `nil` if it does not exist, such as that of IPv6 on a kernel without it.
    static func read(_ path: String) throws -> [UInt8]? {
        do {
            return try BoundedFile.read(FilePath(path), atMost: maximumSize)
        } catch Errno.noSuchFileOrDirectory {
            return nil
        }
    }
}

/// Looks up users of this machine by the number or name that a person enters.
enum UserName {
    /// Longest entry of the user database, bytes.
    private static let entrySize = 16 << 10

    /// Returns the user's id; `nil` if there is no such user.
    static func id(of text: String) -> UInt32? {
        if let id = UInt32(text) { return id }
        var user = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var memory = [CChar](repeating: 0, count: entrySize)
        guard getpwnam_r(text, &user, &memory, memory.count, &found) == 0, found != nil else { return nil }
        return user.pw_uid
    }
}
