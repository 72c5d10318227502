/// Whether a desktop's reports of changes can be relied on: some drivers show pictures without a report.
package struct ChangeReports: Sendable {
    /// How many changes in a row may come without a report. One can, while its report is on the way.
    private static let mostMissed = 1

    private var missed = 0

    package init() {}

    package var areReliable: Bool { missed <= Self.mostMissed }

    /// Takes note of other pixels, for which the source has waited.
    ///
    /// - Parameter isReported: Whether it ended the wait.
    package mutating func changed(isReported: Bool) { missed = isReported ? 0 : missed + 1 }
}
