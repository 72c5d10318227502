package import NIOCore

/// The address at the other end of a connection.
package enum PeerAddress {
    /// Returns the address for people, such as `192.168.1.7` or `::1`.
    package static func text(of address: SocketAddress?) -> String { address?.ipAddress ?? "?" }

    /// Returns what counts as one party: an IPv4 address, or the first 64 bits of an IPv6 address, because one host may
    /// own the rest.
    package static func party(of address: SocketAddress?) -> String {
        guard case .v6 = address, let bytes = address.map(bytes(of:)) else { return text(of: address) }
        // An IPv4 address as a dual-stack socket shows it (RFC 4291, section 2.5.5.2).
        if bytes[..<10].allSatisfy({ $0 == 0 }), bytes[10] == 0xFF, bytes[11] == 0xFF {
            return bytes[12...].map(String.init).joined(separator: ".")
        }
        return bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":")
    }

    /// Returns an address's 4 or 16 bytes, first to last; none for a Unix socket.
    static func bytes(of address: SocketAddress) -> [UInt8] {
        // The address's position in sockaddr_in and sockaddr_in6 (ip(7), ipv6(7)).
        let place: Range<Int>
        switch address {
        case .v4: place = 4..<8
        case .v6: place = 8..<24
        case .unixDomainSocket: return []
        }
        return address.withSockAddr { Array(UnsafeRawBufferPointer(start: $0, count: $1)[place]) }
    }
}
