extension MutableCollection where Self: RandomAccessCollection, Index == Int {
    /// The element at `place`, or `nil` if there is none. Writing to a place that does not exist has no effect.
    @inlinable
    package subscript(at place: Int) -> Element? {
        get { indices.contains(place) ? self[place] : nil }
        set { if indices.contains(place), let newValue { self[place] = newValue } }
    }

    /// Those elements in `range` that exist.
    @inlinable
    package subscript(in range: Range<Int>) -> SubSequence { self[range.clamped(to: startIndex..<endIndex)] }

    /// Those elements from `place` on that exist.
    @inlinable
    package subscript(from place: Int) -> SubSequence { self[Swift.max(startIndex, Swift.min(place, endIndex))...] }
}

extension Range {
    /// The range from `lower` to before `upper`; empty if `upper` is less.
    @inlinable
    package init(from lower: Bound, to upper: Bound) { self = lower..<Swift.max(lower, upper) }
}

extension ArraySlice {
    /// Removes and returns the first `count` elements, or all if there are fewer.
    @inlinable
    package mutating func takeFirst(_ count: Int) -> ArraySlice {
        let taken = prefix(Swift.max(0, count))
        self = dropFirst(taken.count)
        return taken
    }
}

extension Array {
    /// Removes the first `count` elements, or all if there are fewer.
    @inlinable
    package mutating func removeLeading(_ count: Int) { removeFirst(Swift.min(Swift.max(0, count), self.count)) }

    /// Removes and returns the first element; `nil` if there is none.
    @inlinable
    package mutating func takeFirst() -> Element? { isEmpty ? nil : removeFirst() }

    /// Changes the element at `place` where it is. Has no effect if there is none.
    @inlinable
    package mutating func update(at place: Int, _ change: (inout Element) -> Void) {
        if indices.contains(place) { change(&self[place]) }
    }

    /// Inserts `elements` before `place`, or at the nearest end if there is no such place.
    @inlinable
    package mutating func insert(_ elements: [Element], before place: Int) {
        insert(contentsOf: elements, at: Swift.min(Swift.max(0, place), count))
    }
}
