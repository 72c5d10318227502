/// The times of a movement, ms, 60 in a second, and the part of the way at each. The last one is the end.
struct Course: Sequence, IteratorProtocol {
    private let duration: Int
    private let count: Int
    private var step = 0

    init(_ duration: Int) {
        self.duration = duration
        count = Self.count(duration)
    }

    static func count(_ duration: Int) -> Int { Swift.max(1, (duration * 60 + 999) / 1000) }

    mutating func next() -> (time: Int, share: Double)? {
        guard step < count else { return nil }
        step += 1
        return (duration * step / count, Double(step) / Double(count))
    }
}
