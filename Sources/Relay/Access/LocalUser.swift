import CLinux
import Glibc
import HTTPTypes
import HeliographAPI
import Hummingbird
package import NIOCore
import NIOPosix
import Synchronization

/// The rule for calls that act on a screen while there are no keys: the caller must be a process of the relay's own
/// user, which may act on that user's desktop anyway.
///
/// Other calls need no key then, but a screen's keyboard can do more: everything that its user can.
package enum LocalUser {
    /// Header fields by which proxies say whom they speak for.
    private static let proxyFields = [
        "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP",
    ]

    private static let advice =
        "without keys, only programs of the relay's own user on this machine may act on its screens, and make keys here. Make a key: heliograph keys make NAME --role controller"

    /// Refuses a call unless its caller is a process of the relay's own user on this machine, and no proxy.
    static func require(_ request: Request, _ context: RelayRequestContext) async throws(Problem) {
        guard !context.isOtherPage else {
            throw Problem(.forbiddenCaller, "the caller is a page of another origin; \(advice)")
        }
        let objection = await objection(to: context.channel) { name in
            HTTPField.Name(name).map { request.headers[$0] != nil } ?? false
        }
        if let objection { throw Problem(.forbiddenCaller, objection) }
    }

    /// Returns why the caller of a connection may not act on a screen; `nil` if it may.
    ///
    /// - Parameter hasField: Returns whether the request has a header field of this name.
    static func objection(to channel: any Channel, _ hasField: (String) -> Bool) async -> String? {
        if let field = proxyFields.first(where: hasField) {
            return "the call comes through a proxy (\(field)); \(advice)"
        }
        return await verdict(on: channel)
    }

    /// Returns why the program at the other end of a connection may not act on a screen; `nil` if it may. Finds it out
    /// once per connection.
    private static func verdict(on channel: any Channel) async -> String? {
        let id = ObjectIdentifier(channel)
        if let known = verdicts.withLock({ $0[id] }) { return known.objection }
        guard let peer = channel.remoteAddress, let local = channel.localAddress, isLoopback(peer) else {
            return "the call does not come from this machine's loopback address; \(advice)"
        }
        let objection: String?
        do {
            // Not on an event loop, because the lists of sockets and processes may be long.
            objection = try await NIOThreadPool.singleton.runIfActive { refusal(of: peer, connectedTo: local) }
        } catch {
            objection = "the relay ends"
        }
        let verdict = Verdict(objection: objection.map { "\($0); \(advice)" })
        verdicts.withLock { $0[id] = verdict }
        channel.closeFuture.whenComplete { _ in verdicts.withLock { $0[id] = nil } }
        return verdict.objection
    }

    private struct Verdict {
        let objection: String?
    }

    /// The verdicts on connections that are open.
    private static let verdicts = Mutex<[ObjectIdentifier: Verdict]>([:])

    private static func refusal(of peer: SocketAddress, connectedTo local: SocketAddress) -> String? {
        guard let socket = socket(at: peer, connectedTo: local) else {
            return "the kernel does not tell the caller's user"
        }
        guard socket.user == geteuid() else { return "the caller is user \(socket.user)" }
        return Forwarding.objection(toOwnerOf: socket.inode)
    }

    /// Returns whether an address is 127.0.0.0/8 or ::1, also as a dual-stack socket shows it.
    package static func isLoopback(_ address: SocketAddress) -> Bool { isLoopback(PeerAddress.bytes(of: address)) }

    /// - Parameter bytes: The address in network order, 4 or 16 bytes.
    static func isLoopback(_ bytes: [UInt8]) -> Bool {
        if bytes.count == 4 { return bytes.first == 127 }
        let (head, tail) = (bytes.prefix(12), Array(bytes.suffix(4)))
        if head.elementsEqual([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]) { return tail.first == 127 }
        return head.count == 12 && head.allSatisfy { $0 == 0 } && tail == [0, 0, 0, 1]
    }

    /// Returns the socket at the other end of a connection within this machine; `nil` if that is unknown.
    ///
    /// It asks the kernel by sock_diag(7). If that is not allowed, it reads the list of all sockets.
    ///
    /// - Parameters:
    ///   - peer: The other end's address.
    ///   - local: This end's.
    package static func socket(at peer: SocketAddress, connectedTo local: SocketAddress) -> PeerUser.Socket? {
        var (user, inode): (UInt32, UInt32) = (0, 0)
        let answer = peer.withSockAddr { peer, _ in
            local.withSockAddr { local, _ in clinux_tcp_socket(peer, local, &user, &inode) }
        }
        if answer == 0 { return PeerUser.Socket(user: user, inode: UInt64(inode)) }
        guard answer == CLINUX_CANNOT_ASK else { return nil }
        return (try? PeerUser.socket(at: peer, connectedTo: local)) ?? nil
    }
}
