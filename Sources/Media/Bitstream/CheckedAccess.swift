extension MutableCollection where Self: RandomAccessCollection, Index == Int {
    /// The element at `place`, or `nil` if there is none. What is written to a place that does not exist is left out.
    @inlinable
    package subscript(at place: Int) -> Element? {
        get { indices.contains(place) ? self[place] : nil }
        set { if indices.contains(place), let newValue { self[place] = newValue } }
    }

    /// The elements in `range`, as far as they exist.
    @inlinable
    package subscript(in range: Range<Int>) -> SubSequence { self[range.clamped(to: startIndex..<endIndex)] }

    /// The elements from `place` on, as far as they exist.
    @inlinable
    package subscript(from place: Int) -> SubSequence { self[Swift.max(startIndex, Swift.min(place, endIndex))...] }
}

extension ArraySlice {
    /// Removes the first `count` elements, or all if there are fewer, and returns them.
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

    /// Inserts `elements` before `place`, or at the nearer end if there is no such place.
    @inlinable
    package mutating func insert(_ elements: [Element], before place: Int) {
        insert(contentsOf: elements, at: Swift.min(Swift.max(0, place), count))
    }
}
