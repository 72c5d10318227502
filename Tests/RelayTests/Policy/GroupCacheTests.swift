import Media
import Relay
import RelayTestSupport
import Testing

/// A cache of units with times in ms.
struct Group {
    var cache: GroupCache<MediaUnit>

    init(bytes: Int = 8 << 20) {
        var limits = GroupCache<MediaUnit>.Limits()
        limits.bytes = bytes
        cache = GroupCache(limits: limits)
    }

    mutating func add(_ unit: MediaUnit, at now: Int64) {
        cache.add(unit, isKey: unit.isKey, byteCount: unit.byteCount, now: at(now))
    }

    func join(at now: Int64) -> [MediaUnit] { cache.join(now: at(now)) }
}

@Suite("The cache for joining viewers")
struct GroupCacheTests {
    private func unit(_ number: Int, key: Bool, size: Int = 32) -> MediaUnit {
        SampleStream.unit(number, key: key, size: size)
    }

    @Test("gives a joiner everything since a keyframe that is at most half a second old")
    func givesAJoinerTheCache() {
        var group = Group()
        for number in 0..<10 { group.add(unit(number, key: number == 0), at: Int64(number) * 33) }
        #expect(group.join(at: 500).map(\.pts) == (0..<10).map { Int64($0) * 33_333 })
        #expect(group.join(at: 500).first?.isKey == true)
        #expect(group.join(at: 501).isEmpty)
    }

    @Test("keeps nothing rather than a part when the cache would grow too large")
    func keepsNothingRatherThanAPart() {
        var group = Group(bytes: 1000)
        group.add(unit(0, key: true, size: 500), at: 0)
        group.add(unit(1, key: false, size: 600), at: 10)
        group.add(unit(2, key: false), at: 20)
        #expect(group.join(at: 30).isEmpty)
        group.add(unit(3, key: true), at: 40)
        #expect(group.join(at: 50).count == 1)
    }

    @Test("starts over when it is dropped")
    func startsOver() {
        var group = Group()
        group.add(unit(0, key: true), at: 0)
        group.cache.drop()
        group.add(unit(1, key: false), at: 1)
        #expect(group.join(at: 2).isEmpty)
    }
}
