/// What all viewers of a relay may hold together.
///
/// What waits in queues is shared: each is a run of a session's pictures up to the newest, so the longest of them is all that they hold. What has been
/// handed to a connection that does not take it is each viewer's own, since connections stop at different pictures. This bounds the latter.
package struct ViewerMemory: Sendable {
    /// Bytes.
    package var limit: Int

    package init(limit: Int) { self.limit = limit }

    /// Which viewers have to go so that the others' bytes are within the limit: those that hold most, as few as possible.
    ///
    /// - Parameter held: Each viewer's bytes.
    /// - Returns: Indices of `held`.
    package func surplus(_ held: [Int]) -> [Int] {
        var total = held.reduce(0, +)
        guard total > limit else { return [] }
        var surplus: [Int] = []
        for (index, bytes) in held.enumerated().sorted(by: { $0.element > $1.element }) where total > limit {
            surplus.append(index)
            total -= bytes
        }
        return surplus
    }
}
