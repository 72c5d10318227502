import Glibc

/// TCP ports on 127.0.0.1.
enum LoopbackPort {
    /// Why a port cannot be listened on.
    struct Refusal: Error, CustomStringConvertible {
        let code: Int32

        var description: String { String(cString: strerror(code)) }
    }

    /// Listens on a port as a relay would, then releases it.
    static func bind(_ port: UInt16) throws(Refusal) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Refusal(code: errno) }
        defer { close(descriptor) }
        // A port that was in use a moment ago is free for a relay too.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafeBytes(of: &address) { bytes in
            Glibc.bind(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
        }
        guard result == 0, listen(descriptor, 1) == 0 else { throw Refusal(code: errno) }
    }
}
