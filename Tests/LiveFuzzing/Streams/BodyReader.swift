/// Reads an answer that is not a stream.
struct BodyReader: StreamReader {
    let isStill: Bool
    private var count = 0

    init(isStill: Bool) { self.isStill = isStill }

    var remainder: Int { 0 }

    mutating func take(_ bytes: [UInt8], _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        if isStill, count == 0, bytes.count >= FuzzStill.magic.count {
            try expect(bytes.starts(with: FuzzStill.magic), "a still that was never sent", "\(bytes.prefix(16))")
        }
        count += bytes.count
    }
}
