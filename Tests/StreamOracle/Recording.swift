package import Media

/// A picture as a viewer got it.
package struct RecordedPicture: Sendable, Equatable {
    /// Annex B.
    package var bytes: [UInt8]
    /// In the format's own unit; nil if the format has no timestamps.
    package var pts: Int64?
    /// Whether the format says that it is a keyframe; nil if the format does not tell.
    package var isKeyframe: Bool?
    /// Whether the format says that it repeats the last picture and was made without the encoder.
    package var isSkip = false

    package init(bytes: [UInt8], pts: Int64? = nil, isKeyframe: Bool? = nil, isSkip: Bool = false) {
        self.bytes = bytes
        self.pts = pts
        self.isKeyframe = isKeyframe
        self.isSkip = isSkip
    }
}

/// Everything that a viewer got, from its first byte to its last.
package struct Recording: Sendable {
    package var pictures: [RecordedPicture] = []
    /// Faults of the format around the pictures, for people.
    package var faults: [String] = []
    /// How often the relay reported that it dropped pictures because the viewer was too slow.
    package var resyncs = 0

    package init() {}

    /// Its faults: format, timestamps, keyframe flags, and the pictures' headers.
    package func faults(codec: Codec) -> [String] {
        var faults = faults
        for (index, (one, next)) in zip(pictures, pictures.dropFirst()).enumerated() {
            guard let pts = one.pts, let following = next.pts, following <= pts else { continue }
            faults.append("Picture \(index + 1): the timestamp \(following) follows \(pts).")
        }
        for (index, picture) in pictures.enumerated() {
            let isIDR = ByteStream.units(in: picture.bytes).contains { codec.isIDR($0[0]) }
            guard let isKeyframe = picture.isKeyframe, isKeyframe != isIDR else { continue }
            faults.append("Picture \(index): it is told to be \(isKeyframe ? "a" : "no") keyframe.")
        }
        return faults + StreamCheck.faults(in: pictures.map(\.bytes), codec: codec).map(\.description)
    }
}

/// The bytes of a recording, taken one after the other.
struct Bytes {
    private let bytes: [UInt8]
    private(set) var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    /// Takes and returns the next bytes. If there are fewer, takes nothing and returns `nil`.
    mutating func take(_ count: Int) -> [UInt8]? {
        guard count >= 0, bytes.count - place >= count else { return nil }
        defer { place += count }
        return Array(bytes[place..<(place + count)])
    }

    /// Takes the next bytes and returns them as one number, highest first.
    mutating func number(_ count: Int) -> Int? { take(count).map { $0.reduce(0) { $0 << 8 | Int($1) } } }

    /// The remaining bytes.
    mutating func rest() -> [UInt8] { take(bytes.count - place) ?? [] }
}
