/// A box of an ISO base media file, parsed without any code of the writer's.
package struct Box {
    package let type: String
    /// The bytes after size and type.
    package let payload: [UInt8]

    /// Boxes that contain boxes, with the number of bytes before the first one.
    private static let containers = [
        "moov": 0, "trak": 0, "mdia": 0, "minf": 0, "dinf": 0, "stbl": 0, "mvex": 0, "moof": 0, "traf": 0, "mfra": 0,
        "dref": 8, "stsd": 8, "avc1": 78, "avc3": 78, "hvc1": 78, "hev1": 78,
    ]

    /// Returns the boxes that make up `bytes`, or `nil` if they do not add up.
    package static func boxes(_ bytes: some Sequence<UInt8>) -> [Box]? {
        let (boxes, isWhole) = leadingBoxes(bytes)
        return isWhole ? boxes : nil
    }

    /// Returns the complete boxes at the start of `bytes`, and whether nothing follows them.
    package static func leadingBoxes(_ bytes: some Sequence<UInt8>) -> (boxes: [Box], isWhole: Bool) {
        var rest = Array(bytes)[...]
        var boxes: [Box] = []
        while !rest.isEmpty {
            guard rest.count >= 8 else { return (boxes, false) }
            let size = Int(rest.prefix(4).number)
            guard size >= 8, size <= rest.count else { return (boxes, false) }
            let type = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
            boxes.append(Box(type: type, payload: Array(rest.prefix(size).dropFirst(8))))
            rest = rest.dropFirst(size)
        }
        return (boxes, true)
    }

    package var children: [Box] {
        Box.containers[type].flatMap { Box.boxes(payload.dropFirst($0)) } ?? []
    }

    /// The types of this box and all boxes in it, nested: `moof(mfhd traf(tfhd))`.
    package var outline: String {
        children.isEmpty ? type : "\(type)(\(children.map(\.outline).joined(separator: " ")))"
    }

    package subscript(_ type: String) -> Box? { children.first { $0.type == type } }

    /// Returns the unsigned number in `range` of the payload.
    package func number(_ range: Range<Int>) -> UInt64 { payload[range].number }
}

extension Sequence<UInt8> {
    /// Returns the bytes as one unsigned number, highest first.
    package var number: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}
