package import Media

/// What changes in a running session. What is nil stays.
package struct SessionUpdate: Sendable, Equatable, Codable {
    /// bit/s.
    package var bitrate: Int?
    /// Output slots per second, 1 to 240.
    package var fps: Int?
    /// Takes the place of the whole requested size.
    package var size: RequestedSize?
    /// Whether the session is encoded from now on.
    package var isActive: Bool?

    private enum CodingKeys: String, CodingKey {
        case bitrate, fps, size
        case isActive = "active"
    }

    package init(bitrate: Int? = nil, fps: Int? = nil, size: RequestedSize? = nil, isActive: Bool? = nil) {
        self.bitrate = bitrate
        self.fps = fps
        self.size = size
        self.isActive = isActive
    }

    /// `parameters` with this change.
    package func applied(to parameters: SessionParameters) -> SessionParameters {
        var parameters = parameters
        parameters.bitrate = bitrate ?? parameters.bitrate
        parameters.fps = fps ?? parameters.fps
        parameters.size = size ?? parameters.size
        parameters.isActive = isActive ?? parameters.isActive
        return parameters
    }
}
