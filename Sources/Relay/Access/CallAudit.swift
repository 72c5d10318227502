import Access
import HTTPTypes
import HeliographAPI
import Hummingbird
import Logging
import Synchronization

/// The log's details about one call that is audited, besides its caller and its answer.
final class CallAudit: Sendable {
    /// Longest path that is logged, in characters.
    private static let longestPath = 200

    /// The message of all audit lines, by which they can be found.
    static let message: Logger.Message = "audit"

    private let notes = Mutex<Logger.Metadata>([:])

    /// Adds a detail about the call.
    func note(_ name: String, _ value: some CustomStringConvertible) {
        notes.withLock { $0[name] = "\(value)" }
    }

    /// Returns whether all calls of this method are logged: those that may change something (RFC 9110, section 9.2.1).
    static func isDue(_ method: HTTPRequest.Method) -> Bool { method != .get && method != .head }

    /// Writes the line. For callers without a key, it does so only while `access` has room for their lines.
    func log(
        _ request: Request,
        by caller: Caller,
        from context: RelayRequestContext,
        under access: AccessControl,
        answer: Result<Response, any Error>
    ) {
        var metadata = notes.withLock { $0 }
        metadata["call"] = "\(request.method) \(request.uri.path.prefix(Self.longestPath))"
        metadata["address"] = "\(PeerAddress.text(of: context.peer.address))"
        if let key = caller.key { metadata["key"] = "\(key.name)" }
        if caller.link != nil { metadata["link"] = "signed" }
        if let role = caller.role { metadata["role"] = "\(role.rawValue)" }
        switch answer {
        case .success(let response):
            metadata["status"] = "\(response.status.code)"
        case .failure(let problem as Problem):
            metadata["status"] = "\(problem.status)"
            metadata["code"] = "\(problem.code.rawValue)"
        case .failure(let error):
            metadata["status"] = "none: \(type(of: error))"
        }
        if caller.role == nil, metadata["key"] == nil {
            guard let left = access.takeStrangersLine() else { return }
            if left > 0 { context.logger.warning("\(left) audit lines of callers without a key were left out here") }
        }
        context.logger.notice(Self.message, metadata: metadata)
    }
}
