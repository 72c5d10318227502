import Media

/// A bounded pool of pictures of one size. A session that has all of them in use drops frames instead of growing.
///
/// Owned by the session's encoder thread.
struct FramePool {
    /// Two: one keeps the picture for repeats while the next one is filled.
    static let capacity = 2

    let size: PictureSize
    let chroma: ChromaSampling
    private var free: [PlanarPicture] = []
    private var made = 0

    init(size: PictureSize, chroma: ChromaSampling) {
        self.size = size
        self.chroma = chroma
    }

    /// Returns a free picture with arbitrary contents, or `nil` if all are in use.
    mutating func take() -> PlanarPicture? {
        if let picture = free.popLast() { return picture }
        guard made < Self.capacity else { return nil }
        made += 1
        return PlanarPicture(size: size, chroma: chroma)
    }

    /// Takes back a picture that belongs to this pool.
    mutating func giveBack(_ picture: PlanarPicture) {
        free.append(picture)
    }
}
