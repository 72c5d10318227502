/// A slot for the newest sample and its time of arrival. A newer sample replaces it.
package struct NewestSampleLatch<Sample: Sendable>: Sendable {
    package struct Entry: Sendable {
        package let sample: Sample
        /// Time of arrival, in monotonic ns.
        package let arrival: UInt64
    }

    package private(set) var waiting: Entry?

    package init() {}

    /// Stores `sample` and returns the entry that it replaces.
    package mutating func put(_ sample: Sample, at now: UInt64) -> Entry? {
        let displaced = waiting
        waiting = Entry(sample: sample, arrival: now)
        return displaced
    }

    /// Removes and returns the entry.
    package mutating func take() -> Entry? {
        defer { waiting = nil }
        return waiting
    }
}
