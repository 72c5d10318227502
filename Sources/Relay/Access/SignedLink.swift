import Media

/// What a signed link is for, and until when. Anyone with the link may look at it, or also act on it.
///
/// The link is a part of addresses: `/signed/LINK/v1/…`. So relative addresses in a playlist have it, too.
struct SignedLink: Sendable, Equatable {
    /// What the link is for.
    enum Scope: Sendable, Equatable {
        case session(UInt32)
        /// A device and its sessions.
        case device(String)
        /// All items of a recording, by its id.
        case recording(String)
    }

    let scope: Scope
    /// When it ends, in s since 1970.
    let end: Int
    /// Whether viewers with the link may act on the screen.
    let acts: Bool

    /// The field of links to act.
    private static let act = "act"

    init(_ scope: Scope, end: Int, acts: Bool = false) {
        (self.scope, self.end, self.acts) = (scope, end, acts)
    }

    /// Reads the fields that were signed; `nil` if they are not those of a link.
    init?(_ fields: [String]) {
        acts = fields[at: 3] == Self.act
        guard fields.count == (acts ? 4 : 3), let name = fields[at: 1],
            let end = fields[at: 2].flatMap({ Int($0, radix: 10) })
        else { return nil }
        switch fields.first {
        case "session":
            guard let id = UInt32(name, radix: 10) else { return nil }
            scope = .session(id)
        case "device": scope = .device(name)
        case "recording": scope = .recording(name)
        default: return nil
        }
        self.end = end
    }

    /// The fields to sign.
    var fields: [String] {
        let subject =
            switch scope {
            case .session(let id): ["session", "\(id)"]
            case .device(let name): ["device", name]
            case .recording(let id): ["recording", id]
            }
        return [subject, ["\(end)"], acts ? [Self.act] : []].flatMap { $0 }
    }
}
