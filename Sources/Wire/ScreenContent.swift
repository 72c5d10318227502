/// What of a desktop is captured, where the source has several kinds.
package enum ScreenContent: String, Sendable, Codable, CaseIterable {
    case monitor
    /// One window: that which a person chooses, or which has the input focus where nobody is asked.
    case window
}
