package import HeliographClient

/// The fingers on this machine's screen, as contacts of the device's. A pure value.
package struct Fingers: Sendable {
    /// The most fingers that a device has.
    private static let most: UInt8 = 10

    /// The contacts' ids by this machine's numbers of the fingers.
    private var ids: [Int64: UInt8] = [:]

    package init() {}

    /// Returns a finger's contact; `nil` for one too many, and for one that was not seen going down.
    package mutating func contact(
        _ finger: Int64,
        _ phase: Input.Contact.Phase,
        at place: Input.Place
    ) -> Input.Contact? {
        if phase == .down, ids[finger] == nil {
            guard let free = (0..<Self.most).first(where: { !ids.values.contains($0) }) else { return nil }
            ids[finger] = free
        }
        guard let id = ids[finger] else { return nil }
        if phase == .up || phase == .cancel { ids[finger] = nil }
        return Input.Contact(id: id, phase: phase, x: place.x, y: place.y)
    }
}
