/// A reader of a stream of snapshots: parts with their lengths, separated by the boundary.
struct MotionJPEGReader: StreamReader {
    private static let boundary = Array("--heliograph-snapshot\r\n".utf8)
    private static let headEnd = Array("\r\n\r\n".utf8)

    private var buffer: [UInt8] = []
    private var hasBegun = false
    private(set) var parts = 0

    var remainder: Int { buffer.count }

    mutating func take(_ bytes: [UInt8], _ see: (SeenPicture) throws(Fault) -> Void) throws(Fault) {
        buffer += bytes
        if !hasBegun {
            guard buffer.count >= Self.boundary.count else { return }
            try expect(buffer.starts(with: Self.boundary), "snapshots that do not begin with their boundary")
            buffer.removeFirst(Self.boundary.count)
            hasBegun = true
        }
        while let end = buffer.firstRange(of: Self.headEnd) {
            let head = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).lowercased()
            let line = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
            guard let size = line.flatMap({ Int($0.dropFirst(16)) }), size > 0 else {
                throw Fault("a snapshot without a length", head)
            }
            let whole = end.upperBound + size + 2 + Self.boundary.count
            guard buffer.count >= whole else { return }
            let snapshot = buffer[end.upperBound..<(end.upperBound + size)]
            try expect(
                snapshot.starts(with: FuzzSnapshot.magic),
                "a snapshot that was never sent",
                "\(snapshot.prefix(16))"
            )
            let tail = buffer[(end.upperBound + size)..<whole]
            try expect(tail.elementsEqual([13, 10] + Self.boundary), "a snapshot that is longer than it says")
            buffer.removeFirst(whole)
            parts += 1
        }
    }
}
