import FoundationEssentials
package import NIOCore
import NIOHTTP1

/// A relay's answer that is not a stream.
package struct Answer<Report>: Sendable {
    package let status: Int
    package let bytes: ByteBuffer
    /// The fields of its head.
    let headers: HTTPHeaders
    /// The relay's address, for errors.
    private let url: String

    init(status: Int, bytes: ByteBuffer, headers: HTTPHeaders = [:], url: String) {
        (self.status, self.bytes, self.headers, self.url) = (status, bytes, headers, url)
    }

    /// Most bytes of a usual answer.
    static var longest: Int { 4 << 20 }
}

extension Answer where Report: Decodable {
    /// Returns what it says.
    package func report() throws(RelayError) -> Report {
        do {
            return try JSONDecoder().decode(Report.self, from: Data(bytes.readableBytesView))
        } catch {
            throw RelayError(.notUnderstood, "\(url) does not answer like a relay of this release: \(error)")
        }
    }
}
