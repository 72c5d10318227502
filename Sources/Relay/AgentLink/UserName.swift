import Glibc

/// Users of this machine, by the number or the name that a person gives.
enum UserName {
    /// Longest entry of the user database, bytes.
    private static let entrySize = 16 << 10

    /// The user's id; nil where there is none of that name.
    static func id(of text: String) -> UInt32? {
        if let id = UInt32(text) { return id }
        var user = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var memory = [CChar](repeating: 0, count: entrySize)
        guard getpwnam_r(text, &user, &memory, memory.count, &found) == 0, found != nil else { return nil }
        return user.pw_uid
    }
}
