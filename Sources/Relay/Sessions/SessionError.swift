package import Media
package import Wire

/// Why a session cannot do what was asked.
package enum SessionError: Error, Sendable, Equatable {
    case tooMany(device: String, limit: Int)
    case portInUse(Int)
    case noFreePort(first: Int, last: Int)
    case cannotListen(reason: String)
    case tooManyViewers(limit: Int)
    /// It is of this codec and not of the one asked for.
    case otherCodec(SessionID, Codec)
    /// No agent feeds it.
    case noSource
    /// The relay takes nobody new and ends when its viewers have gone.
    case lastViewers
    /// The relay is shutting down.
    case draining
}
