import NIOCore

/// The last keyframe and all pictures since, for viewers that join.
struct PictureCache: Sendable {
    /// Most bytes that are kept; beyond them nothing is until the next keyframe.
    private let maximumBytes: Int
    /// How old the keyframe may be for a joiner to begin there.
    private let joinAge: TimeAmount
    /// Empty when they are not all there.
    private var pictures: [Picture] = []
    private var byteCount = 0
    private var keyframeArrived: NIODeadline?

    init(maximumBytes: Int, joinAge: TimeAmount) {
        self.maximumBytes = maximumBytes
        self.joinAge = joinAge
    }

    /// Keeps a picture that refers to the one before it, or to none.
    mutating func add(_ picture: Picture, now: NIODeadline) {
        if picture.isKey {
            drop()
            keyframeArrived = now
        } else if pictures.isEmpty {
            return
        }
        guard byteCount + picture.byteCount <= maximumBytes else { return drop() }
        pictures.append(picture)
        byteCount += picture.byteCount
    }

    /// What a viewer that joins now is given first; empty when it waits for the next keyframe.
    func join(now: NIODeadline) -> [Picture] {
        guard let keyframeArrived, now - keyframeArrived <= joinAge else { return [] }
        return pictures
    }

    mutating func drop() {
        pictures.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
