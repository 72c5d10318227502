/// What repeats need to know of a codec: which streams take inserted pictures, how live pictures change, what is inserted.
protocol RepeatCoding: Sendable {
    /// Pictures inserted since the last IDR picture.
    var inserted: Int { get }

    /// Takes note of a live access unit and says how it is to be changed.
    mutating func accept(_ accessUnit: [UInt8]) throws(RepeatRefusal) -> AcceptedPicture

    /// An access unit that shows the last picture again. Nil before the first picture.
    mutating func skip() -> [UInt8]?

    /// Takes note that the last IDR picture was sent again.
    mutating func restart()

    /// Takes note that `count` pictures were inserted behind the last one.
    mutating func advance(by count: Int)

    /// Begins behind an IDR access unit that another value of this type had changed.
    mutating func resume(at keyframe: [UInt8]) throws(RepeatRefusal)

    /// Whether `accessUnit` has an IDR picture, after which earlier pictures no longer matter.
    static func containsIDR(_ accessUnit: [UInt8]) -> Bool
}

extension Int {
    /// Returns the number as a field of `width` bits holds it.
    func wrapped(to width: Int) -> Int { self & (1 << width &- 1) }
}

/// What an access unit holds beside its parameter sets, which are taken in at once.
struct AccessUnitContents<SliceHeader: Sendable>: Sendable {
    /// Its slices, or segments of slices: where each NAL unit lies without its start code, and what stands at its head.
    var slices: [(unit: Range<Int>, header: SliceHeader)] = []
    var parameterSetsEnd: Int?
    /// The ids of its sequence and picture parameter sets, in their order.
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

/// A live picture that a stream with repeats takes.
struct AcceptedPicture {
    let isIDR: Bool
    /// Whether it has a P slice: only those tell how the encoder uses its references.
    let isPredicted: Bool
    let edit: AccessUnitEdit
}

/// The changes of one access unit, made in place.
struct AccessUnitEdit {
    /// The slices to change, in stream order: where each NAL unit lies without its start code, and the fields' new values.
    var slices: [(unit: Range<Int>, fields: [(BitField, value: Int)])] = []
    /// Bytes to insert before the first slice.
    var insertion: (place: Int, bytes: [UInt8])?

    func apply(to accessUnit: inout [UInt8]) {
        // From the end on, so that no change moves what is still to be changed.
        for (unit, fields) in slices.reversed() {
            EmulationPrevention.overwrite(fields, inUnit: unit, of: &accessUnit)
        }
        if let (place, bytes) = insertion { accessUnit.insert(bytes, before: place) }
    }
}
