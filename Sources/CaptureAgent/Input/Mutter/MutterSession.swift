import CLinux
import Glibc

/// A remote desktop session of Mutter, by which another process lifts the fingers of the one that has made it.
///
/// Mutter (43) keeps a finger down if its session ends, and nothing but that session lifts it. A session listens only
/// to the connection that has made it, so the other process has a descriptor of the same connection. Mutter does not
/// know that the first process has ended until both have closed it.
struct MutterSession: Sendable {
    /// The time that Mutter needs to handle the fingers' events, in ns: a few refreshes.
    static let settling: UInt64 = .milliseconds(50)
    /// How long Mutter may take to answer, in ns.
    private static let answerTimeout: UInt64 = .milliseconds(1_000)

    /// The socket of the connection to the session bus.
    let connection: Int32
    /// The session's object path.
    let path: String

    /// Lifts the fingers among `items`.
    ///
    /// - Returns: `false` if the connection has no room for it.
    func release(_ items: [HeldInput.Item]) -> Bool {
        let calls = items.flatMap { item -> [UInt8] in
            if case .touch(let finger) = item { lift(finger).bytes } else { [] }
        }
        return calls.isEmpty || send(calls) || errno != EAGAIN
    }

    /// Waits until Mutter has handled what came before. Only if the other process has ended: replies would be lost to
    /// it.
    ///
    /// Mutter (43) crashes if a session ends while its fingers' events wait for a refresh of the screen.
    func settle() {
        for _ in 0..<2 {
            var call = lift(0)
            call.wantsReply = true
            guard send(call.bytes) else { return }
            let deadline = MonotonicClock.now + Self.answerTimeout
            var received: [UInt8] = []
            while !BusCall.isAnswered(by: received) {
                let now = MonotonicClock.now
                guard now < deadline else { return }
                guard Poll.wait(for: [Poll.Interest(connection)], timeout: deadline - now).contains(true) else {
                    continue
                }
                var bytes = [UInt8](repeating: 0, count: 4096)
                let count = recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT))
                if count == 0 || count < 0 && errno != EAGAIN && errno != EINTR { return }
                received += bytes.prefix(max(0, count))
            }
            MonotonicClock.sleep(Self.settling)
        }
    }

    private func lift(_ finger: UInt8) -> BusCall {
        BusCall(
            path: path,
            destination: "org.gnome.Mutter.RemoteDesktop",
            interface: "org.gnome.Mutter.RemoteDesktop.Session",
            member: "NotifyTouchUp",
            argument: UInt32(finger)
        )
    }

    /// Sends at once, so that what the other process sends is never within a message.
    private func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(connection, bytes, bytes.count, clinux_no_signal | Int32(MSG_DONTWAIT)) == bytes.count
    }
}
