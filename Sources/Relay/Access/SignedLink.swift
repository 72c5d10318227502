import Media

/// What a signed link is for, and until when. Anyone with the link may look at it.
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

    init(_ scope: Scope, end: Int) {
        self.scope = scope
        self.end = end
    }

    /// Reads the fields that were signed; `nil` if they are not those of a link.
    init?(_ fields: [String]) {
        guard fields.count == 3, let name = fields[at: 1], let end = fields.last.flatMap({ Int($0, radix: 10) }) else {
            return nil
        }
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
        switch scope {
        case .session(let id): ["session", "\(id)", "\(end)"]
        case .device(let name): ["device", name, "\(end)"]
        case .recording(let id): ["recording", id, "\(end)"]
        }
    }
}
