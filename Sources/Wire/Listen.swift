/// Says what the agent does about its device's sound, until the next order.
package struct Listen: Sendable, Equatable, Codable {
    package enum Mode: String, Sendable, Codable {
        /// Nothing is captured.
        case off
        /// The last second is kept, so that the agent can take over without a gap.
        case ready
        /// Sound is sent.
        case send
    }

    package var mode: Mode
    /// The time at which the sound of another agent has ended, to continue there, in monotonic µs. Absent means now.
    package var from: Int64?
    /// When the sample that would have been the next one was captured, in monotonic ns. Both agents hear the same node,
    /// so this says which sample it is.
    package var captured: Int64?

    package init(_ mode: Mode, from: Int64? = nil, captured: Int64? = nil) {
        (self.mode, self.from, self.captured) = (mode, from, captured)
    }
}
