/// What repeats need from a codec: which streams allow inserted pictures, how live pictures change, and what is
/// inserted.
protocol RepeatCoding: Sendable {
    /// Pictures inserted since the last IDR picture.
    var inserted: Int { get }

    /// Records a live access unit and returns how it must be changed.
    mutating func accept(_ accessUnit: [UInt8]) throws(RepeatRefusal) -> AcceptedPicture

    /// Returns an access unit that shows the last picture again, or `nil` before the first picture.
    mutating func skip() -> [UInt8]?

    /// Records that the last IDR picture was sent again.
    mutating func restart()

    /// Records that `count` pictures were inserted after the last one.
    mutating func advance(by count: Int)

    /// Starts after an IDR access unit that another value of this type had changed.
    mutating func resume(at keyframe: [UInt8]) throws(RepeatRefusal)

    /// Returns whether `accessUnit` has an IDR picture, after which earlier pictures no longer matter.
    static func containsIDR(_ accessUnit: [UInt8]) -> Bool
}

extension Int {
    /// Returns the number modulo 2 to the power of `width`, as a field of `width` bits holds it.
    func wrapped(to width: Int) -> Int { self & (1 << width &- 1) }
}

/// The contents of an access unit besides its parameter sets, which are recorded at once.
struct AccessUnitContents<SliceHeader: Sendable>: Sendable {
    /// Its slices, or slice segments: the range of each NAL unit without its start code, and its header.
    var slices: [(unit: Range<Int>, header: SliceHeader)] = []
    var parameterSetsEnd: Int?
    /// The ids of its sequence and picture parameter sets, in stream order.
    var (sequenceIDs, pictureIDs) = ([Int](), [Int]())
    var isDelimited = false

    /// Empties it for the next access unit. Lists keep their memory.
    mutating func removeAll() {
        slices.removeAll(keepingCapacity: true)
        parameterSetsEnd = nil
        sequenceIDs.removeAll(keepingCapacity: true)
        pictureIDs.removeAll(keepingCapacity: true)
        isDelimited = false
    }
}

/// A live picture that a stream with repeats accepts.
struct AcceptedPicture {
    let isIDR: Bool
    /// Whether it has a P slice. Only P slices tell how the encoder uses its references.
    let isPredicted: Bool
    let edit: AccessUnitEdit
}

/// The changes of one access unit, which are made in place.
struct AccessUnitEdit {
    /// The slices to change, in stream order: the range of each NAL unit without its start code, and the new field
    /// values.
    var slices: [(unit: Range<Int>, fields: [(BitField, value: Int)])] = []
    /// Bytes to insert before the first slice.
    var insertion: (place: Int, bytes: [UInt8])?

    func apply(to accessUnit: inout [UInt8]) {
        // In reverse order, so that no change moves what still has to be changed.
        for (unit, fields) in slices.reversed() {
            EmulationPrevention.overwrite(fields, inUnit: unit, of: &accessUnit)
        }
        if let (place, bytes) = insertion { accessUnit.insert(bytes, before: place) }
    }
}
