extension String {
    /// Returns the text as UTF-8 of at most `limit` bytes. A longer one ends with its last whole character.
    func utf8(upTo limit: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        for character in self {
            guard bytes.count &+ character.utf8.count <= limit else { break }
            bytes += character.utf8
        }
        return bytes
    }
}
