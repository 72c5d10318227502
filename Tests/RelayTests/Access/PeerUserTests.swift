import Foundation
import NIOCore
import Relay
import RelayTestSupport
import TestSupport
import Testing
import Wire

@Suite("An agent's user")
struct PeerUserTests {
    // The kernel's format, shortened: a listener, both ends of a connection, and one that its process has closed.
    private static let list = Array(
        """
          sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
           0: 0100007F:2454 00000000:0000 0A 00000000:00000000 00:00000000 00000000   990        0 13 1 0 100 0 0 10 0
           1: 0100007F:2454 0100007F:B0F2 01 00000000:00000000 00:00000000 00000000   990        0 14 1 0 20 4 30 10 -1
           2: 0100007F:B0F2 0100007F:2454 01 00000000:00000000 02:00000000 00000000  1001        0 15 1 0 20 4 30 10 -1
           3: 0100007F:B0F4 0100007F:2454 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0
        1000: 0100007F:B0F6 0100007F:2454 01 00000000:00000000 00:00000000 00000000     0        0 16 1 0

        """.utf8
    )

    private func user(_ port: String) -> UInt32? {
        PeerUser.socket(in: Self.list, at: "0100007F:\(port)", connectedTo: "0100007F:2454")?.user
    }

    @Test("is the owner of the socket at the other end, as long as that is open")
    func lookUp() {
        #expect(user("B0F2") == 1001)
        #expect(user("B0F6") == 0)
        #expect(user("B0F4") == nil, "nobody's any more, and not root's")
        #expect(user("B0F8") == nil)
        #expect(user("B0F") == nil)
        #expect(PeerUser.socket(in: Self.list.prefix(300), at: "0100007F:B0F2", connectedTo: "0100007F:2454") == nil)
    }

    @Test("addresses are written as the kernel does")
    func form() throws {
        let v4 = try SocketAddress(ipAddress: "127.0.0.1", port: 0x2454)
        #expect(PeerUser.Form.v4.text(of: v4) == "0100007F:2454")
        #expect(PeerUser.Form.v6.text(of: v4) == "0000000000000000FFFF00000100007F:2454")
        let v6 = try SocketAddress(ipAddress: "::1", port: 80)
        #expect(PeerUser.Form.v6.text(of: v6) == "00000000000000000000000001000000:0050")
        #expect(PeerUser.Form.v4.text(of: v6) == nil)
    }

    @Test("an unreadable list is an error, a missing one is not")
    func unreadable() throws {
        let scratch = try Scratch()
        defer { withExtendedLifetime(scratch) {} }
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 1)
        let folder = scratch.file("net").path
        #expect(try PeerUser.id(at: address, connectedTo: address, in: folder) == nil)
        try FileManager.default.createDirectory(atPath: folder + "/tcp", withIntermediateDirectories: true)
        #expect(throws: (any Error).self) { try PeerUser.id(at: address, connectedTo: address, in: folder) }
        #expect(!Reject.Code.unavailable.isFinal)
    }

    @Test("is the relay's own, root, or one that was named")
    func users() {
        let users = AgentUsers(others: [4711])
        #expect(users.objection(to: geteuid()) == nil)
        #expect(users.objection(to: 0) == nil)
        #expect(users.objection(to: 4711) == nil)
        #expect(users.objection(to: 4712)?.code == .wrongUser)
        #expect(users.objection(to: nil)?.code == .wrongUser)
    }

    /// Connects as another user, sends HELLO, and prints the answer.
    private static let stranger = """
        import os, socket, sys
        os.setuid(int(sys.argv[1]))
        link = socket.create_connection((sys.argv[2], int(sys.argv[3])))
        link.sendall(bytes.fromhex(sys.argv[4]))
        print(link.recv(65536)[16:].decode(errors="replace"))
        """

    @Test(
        "is asked for when the token is right",
        .enabled(if: geteuid() == 0, "only root can become another user"),
        arguments: ["127.0.0.1", "::1"]
    )
    func wrongUser(host: String) async throws {
        for (others, isLetIn) in [([] as [UInt32], false), ([12_345], true)] {
            try await RunningRelay.run {
                $0.agentLink.host = host
                $0.agentUsers = others
            } _: { relay in
                let hello = relay.helloPacket().map { (byte: UInt8) in String(format: "%02x", byte) }.joined()
                let outcome = try await inThread {
                    try Programs.run(
                        URL(fileURLWithPath: "/usr/bin/python3"),
                        ["-c", Self.stranger, "12345", host, "\(relay.ports.agentLink)", hello]
                    )
                }
                #expect(outcome.output.contains(isLetIn ? "heartbeatInterval" : "wrong_user"), "\(outcome)")
            }
        }
    }
}
