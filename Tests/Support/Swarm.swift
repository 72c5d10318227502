import Foundation

/// Many connections of one process to one loopback port, from several source addresses.
package final class Swarm {
    /// The result of one connection.
    package struct Member {
        fileprivate let connection: Connection
        /// Everything that it received.
        package fileprivate(set) var received: [UInt8] = []
        /// Whether the other side has ended it.
        package fileprivate(set) var hasEnded = false

        /// The answer's status; `nil` if there was none.
        package var status: Int? {
            let words = String(decoding: received.prefix(16), as: UTF8.self).split(separator: " ")
            return words.count > 1 ? Int(words[1]) : nil
        }
    }

    package private(set) var members: [Member] = []

    package init() {}

    deinit { for member in members { member.connection.close() } }

    /// Opens connections from a number of addresses in turn, starting at 127.0.0.2.
    package func connect(_ count: Int, port: Int, addresses: Int) throws {
        for number in 0..<count {
            let source = 0x7F00_0002 + UInt32(number % addresses)
            members.append(Member(connection: try Connection(port: port, from: source)))
        }
    }

    /// Sends the same bytes to all that have not ended. Drops what a connection does not take at once.
    package func send(_ bytes: [UInt8]) {
        for member in members where !member.hasEnded {
            _ = Glibc.send(member.connection.descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
    }

    /// Reads what has come.
    package func read() {
        let places = members.indices.filter { !members[$0].hasEnded }
        var ready = places.map { pollfd(fd: members[$0].connection.descriptor, events: Int16(POLLIN), revents: 0) }
        guard poll(&ready, nfds_t(ready.count), 0) > 0 else { return }
        var part = [UInt8](repeating: 0, count: 4096)
        for (place, ready) in zip(places, ready) where ready.revents != 0 {
            let count = recv(ready.fd, &part, part.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                members[place].received += part[..<count]
            } else {
                // A reset is an end, too.
                members[place].hasEnded = count == 0 || errno != EAGAIN && errno != EINTR
            }
        }
    }

    /// Whether all were ended by the other side.
    package var hasEnded: Bool { members.allSatisfy(\.hasEnded) }

    /// Returns how many connections got each status; 0 for no answer.
    package var statuses: [Int: Int] { members.reduce(into: [:]) { $0[$1.status ?? 0, default: 0] += 1 } }

    /// Raises this process's limit of open files to the system's maximum.
    package static func allowManyFiles() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
