/// Holds the newest sample and when it arrived. A newer one displaces it.
package struct NewestSampleLatch<Sample: Sendable>: Sendable {
    package struct Entry: Sendable {
        package let sample: Sample
        /// Monotonic ns.
        package let arrival: UInt64
    }

    package private(set) var waiting: Entry?

    package init() {}

    /// Puts `sample` in and returns the entry that it displaces.
    package mutating func put(_ sample: Sample, at now: UInt64) -> Entry? {
        let displaced = waiting
        waiting = Entry(sample: sample, arrival: now)
        return displaced
    }

    /// Takes the entry out.
    package mutating func take() -> Entry? {
        defer { waiting = nil }
        return waiting
    }
}
