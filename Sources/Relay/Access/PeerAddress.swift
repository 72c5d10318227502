package import NIOCore

/// The other end of a connection.
package enum PeerAddress {
    /// For people: `192.168.1.7`, `::1`.
    package static func text(of address: SocketAddress?) -> String { address?.ipAddress ?? "?" }

    /// What counts as one party: an IPv4 address, or the first 64 bits of an IPv6 address, of which one host may have all the others.
    package static func party(of address: SocketAddress?) -> String {
        guard case .v6 = address, let bytes = address.map(bytes(of:)) else { return text(of: address) }
        // IPv4 as a socket for both shows it (RFC 4291, section 2.5.5.2).
        if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return bytes[12...].map(String.init).joined(separator: ".")
        }
        return bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":")
    }

    /// An address's 4 or 16 bytes, first to last; none of a Unix socket's.
    static func bytes(of address: SocketAddress) -> [UInt8] {
        // Their places in sockaddr_in and sockaddr_in6 (ip(7), ipv6(7)).
        let place: Range<Int>
        switch address {
        case .v4: place = 4..<8
        case .v6: place = 8..<24
        case .unixDomainSocket: return []
        }
        return address.withSockAddr { Array(UnsafeRawBufferPointer(start: $0, count: $1)[place]) }
    }
}
