/// A box of an ISO base media file, parsed without any code of the writer's.
struct Box {
    let type: String
    /// What follows size and type.
    let payload: [UInt8]

    /// Boxes that hold boxes, and the bytes before the first of these.
    private static let containers = [
        "moov": 0, "trak": 0, "mdia": 0, "minf": 0, "dinf": 0, "stbl": 0, "mvex": 0, "moof": 0, "traf": 0, "mfra": 0,
        "dref": 8, "stsd": 8, "avc1": 78, "avc3": 78, "hvc1": 78, "hev1": 78,
    ]

    /// The boxes that `bytes` consist of, nil when they do not add up.
    static func boxes(_ bytes: some Sequence<UInt8>) -> [Box]? {
        var rest = Array(bytes)[...]
        var boxes: [Box] = []
        while !rest.isEmpty {
            guard rest.count >= 8 else { return nil }
            let size = Int(rest.prefix(4).number)
            guard size >= 8, size <= rest.count else { return nil }
            let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            boxes.append(Box(type: type, payload: Array(rest.prefix(size).dropFirst(8))))
            rest = rest.dropFirst(size)
        }
        return boxes
    }

    var children: [Box] {
        Box.containers[type].flatMap { Box.boxes(payload.dropFirst($0)) } ?? []
    }

    /// The types of this box and all below it, as they are nested: `moof(mfhd traf(tfhd))`.
    var outline: String {
        children.isEmpty ? type : "\(type)(\(children.map(\.outline).joined(separator: " ")))"
    }

    subscript(_ type: String) -> Box? { children.first { $0.type == type } }

    /// The unsigned number in `range` of the payload.
    func number(_ range: Range<Int>) -> UInt64 { payload[range].number }
}

extension Sequence<UInt8> {
    /// The bytes as one unsigned number, highest first.
    var number: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }

    var hex: String {
        map { byte in String(byte, radix: 16).count == 1 ? "0\(String(byte, radix: 16))" : String(byte, radix: 16) }
            .joined()
    }
}

extension [UInt8] {
    /// Bytes written as hexadecimal digits; white space is passed over, and what follows `//` in a line.
    init(hex: String) {
        let lines = hex.split(separator: "\n").map {
            $0.prefix(upTo: $0.firstRange(of: "//")?.lowerBound ?? $0.endIndex)
        }
        let digits = lines.joined().filter { !$0.isWhitespace }.compactMap { UInt8(String($0), radix: 16) }
        precondition(digits.count % 2 == 0)
        self = Swift.stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
