import Media

/// A bounded pool of pictures of one size. A session that has all of them in use drops frames instead of growing.
///
/// Owned by the session's encoder thread.
struct FramePool {
    /// Two: one keeps the picture for repeats while the next one is filled.
    static let capacity = 2

    let size: PictureSize
    private var free: [I420Picture] = []
    private var made = 0

    init(size: PictureSize) {
        self.size = size
    }

    /// Returns a free picture with arbitrary contents, or `nil` if all are in use.
    mutating func take() -> I420Picture? {
        if let picture = free.popLast() { return picture }
        guard made < Self.capacity else { return nil }
        made += 1
        return I420Picture(size: size)
    }

    /// Takes back a picture that belongs to this pool.
    mutating func giveBack(_ picture: I420Picture) {
        free.append(picture)
    }
}
