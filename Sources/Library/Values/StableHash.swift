/// FNV-1a: a hash that is the same in every process. It need not withstand anybody.
enum StableHash {
    /// - Parameter basis: Other values give other hashes of the same text.
    static func of(_ text: String, basis: UInt64 = 0xcbf2_9ce4_8422_2325) -> UInt64 {
        text.utf8.reduce(basis) { ($0 ^ UInt64(truncatingIfNeeded: $1)) &* 0x100_0000_01b3 }
    }
}
