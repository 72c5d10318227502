package import Media

/// What a broadcast is to capture.
package struct SourceRequest: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        /// The desktop portal's screen cast.
        case portal
        /// A synthetic moving picture.
        case testPattern = "test-pattern"
    }

    package var kind: Kind
    /// The test pattern's size.
    package var size: PictureSize?
    /// The test pattern's frames per second, 1 to 240.
    package var fps: Int?

    package init(kind: Kind, size: PictureSize? = nil, fps: Int? = nil) {
        self.kind = kind
        self.size = size
        self.fps = fps
    }
}
