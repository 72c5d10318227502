import Media

/// What a file of music or a movie says of itself.
package struct MediaTags: Sendable, Equatable {
    package internal(set) var title: String?
    package internal(set) var artist: String?
    package internal(set) var album: String?
    /// `3`, or `3/12` of twelve.
    package internal(set) var track: String?
    /// The front cover, or else the first picture: a JPEG image.
    package internal(set) var cover: [UInt8]?

    /// The longest text and the largest picture that are kept, in bytes.
    static let (longestText, largestCover) = (4096, 4 << 20)

    package init() {}

    /// Takes over the texts that it lacks.
    mutating func complete(from other: MediaTags) {
        (title, artist) = (title ?? other.title, artist ?? other.artist)
        (album, track) = (album ?? other.album, track ?? other.track)
    }

    /// Keeps a picture, if it is a JPEG image and not too large.
    ///
    /// - Parameter isFront: Whether it is the front cover.
    mutating func take(_ picture: ByteReader, isFront: Bool) {
        guard picture.count <= Self.largestCover, picture[in: 0..<3].bytes == [0xFF, 0xD8, 0xFF],
            cover == nil || isFront
        else { return }
        cover = picture.bytes
    }

    /// Returns a text without spaces around it; `nil` if nothing is left.
    static func trimmed(_ text: String) -> String? {
        let trimmed = text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
        return trimmed.isEmpty ? nil : String(trimmed)
    }
}
