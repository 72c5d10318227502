import Media
package import Wire

/// What a call changes in a running session.
package struct SessionChange: Sendable, Equatable {
    /// What becomes of a bound that a session may do without.
    package enum Bound: Sendable, Equatable {
        case stays
        /// nil for none: it follows the source.
        case becomes(Int?)

        fileprivate func applied(to value: Int?) -> Int? {
            switch self {
            case .stays: value
            case .becomes(let changed): changed
            }
        }
    }

    /// bit/s; nil when it stays.
    package var bitrate: Int?
    /// Pictures per second, 1 to 240; nil when it stays.
    package var fps: Int?
    /// Even.
    package var width = Bound.stays
    /// Even.
    package var height = Bound.stays
    package var maxPixels = Bound.stays
    /// Nil when it stays.
    package var join: Join?
    /// Nil when it stays.
    package var onDemand: Bool?

    package init() {}

    /// `request` with this change.
    package func applied(to request: SessionRequest) -> SessionRequest {
        var request = request
        request.bitrate = bitrate ?? request.bitrate
        request.fps = fps ?? request.fps
        request.size.width = width.applied(to: request.size.width)
        request.size.height = height.applied(to: request.size.height)
        request.size.maxPixels = maxPixels.applied(to: request.size.maxPixels)
        request.join = join ?? request.join
        request.onDemand = onDemand ?? request.onDemand
        return request
    }
}

extension SessionRequest {
    /// What an agent that encodes for `former` is told, so that it encodes for this; nil for nothing.
    package func update(from former: SessionRequest) -> SessionUpdate? {
        let update = SessionUpdate(
            bitrate: bitrate == former.bitrate ? nil : bitrate,
            fps: fps == former.fps ? nil : fps,
            size: size == former.size ? nil : size
        )
        return update == SessionUpdate() ? nil : update
    }
}
