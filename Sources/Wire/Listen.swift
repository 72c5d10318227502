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

    package init(_ mode: Mode, from: Int64? = nil) {
        self.mode = mode
        self.from = from
    }
}
