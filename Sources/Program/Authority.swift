/// The part of an address that names a host and its port (RFC 3986, section 3.2).
package enum Authority {
    /// Returns it as addresses have it, with brackets around an IPv6 address.
    package static func text(_ host: String, _ port: Int?) -> String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(host):\($0)" } ?? host
    }
}
