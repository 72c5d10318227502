import Fuzzing
import Media
import TestSupport

/// Makes the access units of one session that one link sends.
struct UnitKitchen {
    private let codec: Codec
    private let pictures: [Codec: RealPictures]
    /// The group of pictures that is being sent, and how many of them have been sent.
    private var (group, sent) = (0, 0)
    /// Whether everything sent so far can be decoded.
    private var isIntact = false

    init(codec: Codec, pictures: [Codec: RealPictures]) { (self.codec, self.pictures) = (codec, pictures) }

    private var groups: [[[UInt8]]] { pictures[codec]?.groups ?? [] }

    mutating func make(_ recipe: UnitRecipe, number: UInt64) -> MadeUnit {
        switch recipe {
        case .key(let group): return key(group, number)
        case .next: return next(number)
        case .tiny:
            isIntact = false
            return made(plain(number), false)
        case .fat(let size, let isKey):
            isIntact = false
            var bytes =
                isKey ? RealPictures.numbered(groups[0][0], number, codec: codec) : Marker.unit(number, codec: codec)
            bytes += slice([UInt8](repeating: 0xAA, count: size))
            return made(bytes, isKey)
        case .spoiled(let spoil, let seed):
            isIntact = false
            return spoiled(spoil, number, seed)
        }
    }

    private mutating func key(_ group: Int, _ number: UInt64) -> MadeUnit {
        (self.group, sent, isIntact) = (group % groups.count, 1, true)
        var unit = made(RealPictures.numbered(groups[self.group][0], number, codec: codec), true)
        unit.isReal = true
        return unit
    }

    private mutating func next(_ number: UInt64) -> MadeUnit {
        guard sent > 0, sent < groups[group].count else { return key(group + 1, number) }
        var unit = made(RealPictures.numbered(groups[group][sent], number, codec: codec), false)
        unit.isReal = isIntact
        sent += 1
        return unit
    }

    /// A slice of a picture other than a keyframe, with a start code. No decoder reads it.
    private func slice(_ payload: [UInt8]) -> [UInt8] {
        [0, 0, 0, 1] + (codec == .h264 ? [0x41] : [0x02, 0x01]) + payload
    }

    /// - Parameter seed: The seed of its random content.
    private func spoiled(_ spoil: Spoil, _ number: UInt64, _ seed: UInt64) -> MadeUnit {
        var random = SeededGenerator(seed: seed)
        let isKey = random.chance(0.3)
        let (sets, slices) = keyframe(number)
        let base = isKey ? sets + slices : plain(number)
        return withoutSoundBeginning(spoil, base, isKey, &random) ?? ofOddParts(spoil, base, isKey, number, &random)
    }

    /// Splits a keyframe in two: up to its first slice, and the rest.
    private func keyframe(_ number: UInt64) -> (sets: [UInt8], slices: [UInt8]) {
        let key = RealPictures.numbered(groups[0][0], number, codec: codec)
        let slice = AnnexB.units(in: key).first { NALUnitKind(header: key[$0.header], codec: codec) == .slice }
        let place = slice?.range.lowerBound ?? 0
        return (Array(key[..<place]), Array(key[place...]))
    }

    private func plain(_ number: UInt64) -> [UInt8] { Marker.unit(number, codec: codec) + slice([0x9A, 0x02]) }

    /// Returns an access unit that does not begin with a start code and a header of the codec; `nil` for the other
    /// kinds.
    private func withoutSoundBeginning(
        _ spoil: Spoil,
        _ base: [UInt8],
        _ isKey: Bool,
        _ random: inout SeededGenerator
    ) -> MadeUnit? {
        var bytes = base
        switch spoil {
        case .noStartCode: bytes = random.bytes(random.int(in: 4...400)).map { $0 | 2 }
        case .leadingBytes: bytes.insert(UInt8(random.int(in: 2...255)), at: 0)
        case .noHeader: bytes = random.chance(0.5) ? [0, 0, 1] : [0, 0, 0, 1]
        case .zeros: bytes = [UInt8](repeating: 0, count: random.int(in: 1...400))
        case .oneByte: bytes = random.bytes(1)
        case .forbiddenBit: bytes[4] |= 0x80
        case .reservedType:
            let type = UInt8(random.pick([0, 13, 22, 24, 30, 31]))
            bytes[4] = codec == .h264 ? bytes[4] & 0xE0 | type : (41 + type % 23) << 1
        default: return nil
        }
        return made(bytes, isKey)
    }

    /// Returns an access unit that begins correctly.
    private func ofOddParts(
        _ spoil: Spoil,
        _ base: [UInt8],
        _ isKey: Bool,
        _ number: UInt64,
        _ random: inout SeededGenerator
    ) -> MadeUnit {
        let (sets, slices) = keyframe(number)
        switch spoil {
        case .keyWithoutSets: return made(Marker.unit(number, codec: codec) + slices, true)
        case .falseKey: return made(plain(number), true)
        case .hiddenKey: return made(sets + slices, false)
        case .setsOnly: return made(sets, isKey)
        case .cutSets: return made(sets.prefix(random.int(in: 6...max(6, sets.count))) + plain(number), true)
        case .wildSets:
            let header: [UInt8] = codec == .h264 ? [0x67] : [0x42, 0x01]
            let bits = random.bytes(random.int(in: 1...60)).map { random.chance(0.5) ? $0 & 0x11 | 0x80 : $0 | 4 }
            return made([0, 0, 0, 1] + header + bits + sets + slices, true)
        case .emptyUnits:
            var bytes = base
            for _ in 0..<random.int(in: 1...60) { bytes += random.chance(0.5) ? [0, 0, 1] : [0, 0, 0, 1] }
            return made(bytes + (random.chance(0.5) ? slice([1]) : []), isKey)
        case .manyUnits:
            let unit: [UInt8] = [0, 0, 1, codec == .h264 ? 0x41 : 0x02, 0x81]
            return made(base + [[UInt8]](repeating: unit, count: random.int(in: 100...20_000)).flatMap(\.self), isKey)
        case .manySets:
            let header: [UInt8] = codec == .h264 ? [0x68] : [0x44, 0x01]
            // Rarely as many as a packet has room for.
            let count = random.pick([100, 1000, 1000, 5000, 5000, 400_000])
            let many = (0..<count).flatMap { number -> [UInt8] in
                let digits = (0..<3).map { 0x80 | UInt8(number >> (7 * $0) & 0x7F) }
                return [0, 0, 1] + header + digits
            }
            return made(sets + many + slices, true)
        case .otherCodec:
            let other: Codec = codec == .h264 ? .h265 : .h264
            let picture = pictures[other]?.groups[0][isKey ? 0 : 1] ?? []
            return made(RealPictures.numbered(picture, number, codec: other), isKey)
        case .mutated:
            let corpus = [sets + slices, plain(number), sets]
            var bytes = Mutator(corpus: corpus, words: ["\u{0}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{1}"]).input(by: &random)
            Marker.erase(in: &bytes)
            return made(bytes.isEmpty ? [0] : bytes, isKey)
        case .cut: return made(Array(base.prefix(random.int(in: 1...(base.count - 1)))), isKey)
        case .delimiterFirst: return made(delimiter + base, isKey)
        case .delimiterOnly: return made(delimiter, isKey)
        default:
            let zeros = [UInt8](repeating: 0, count: random.int(in: 1...400))
            return made(zeros + base + zeros, isKey)
        }
    }

    private var delimiter: [UInt8] { codec == .h264 ? [0, 0, 0, 1, 0x09, 0xF0] : [0, 0, 0, 1, 0x46, 0x01, 0x50] }

    private func made(_ bytes: [UInt8], _ isKey: Bool) -> MadeUnit { MadeUnit(bytes, isKey: isKey, codec: codec) }
}
