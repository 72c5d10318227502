/// A reader of an answer other than a stream.
struct BodyReader: StreamReader {
    let isStatic: Bool
    private var count = 0

    init(isStatic: Bool) { self.isStatic = isStatic }

    var remainder: Int { 0 }

    mutating func take(_ bytes: [UInt8], _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        if isStatic, count == 0, bytes.count >= FuzzSnapshot.magic.count {
            try expect(bytes.starts(with: FuzzSnapshot.magic), "a snapshot that was never sent", "\(bytes.prefix(16))")
        }
        count += bytes.count
    }
}
