package import Media
package import Wire

/// Why a session cannot do what a caller asked.
package enum SessionError: Error, Sendable, Equatable {
    case tooMany(device: String, limit: Int)
    case portInUse(Int)
    case noFreePort(first: Int, last: Int)
    case cannotListen(reason: String)
    case tooManyViewers(limit: Int)
    /// The session has this codec, not the requested one.
    case otherCodec(SessionID, Codec)
    /// This field cannot change while the session runs.
    case notChangeable(field: String)
    /// No agent feeds the session.
    case noSource
    /// The session cannot be recorded.
    case noLibrary(reason: String)
    /// The relay accepts no new viewers and ends when the current ones have left.
    case lastViewers
    /// The relay is shutting down.
    case draining
}
