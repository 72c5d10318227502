import Foundation

/// Every fault by itself, each on a steady system.
struct MatrixRun {
    var faults: [Fault]
    /// `nil` means each fault's own number.
    var repetitions: Int?
    /// How many are started and stopped at the end.
    var sessions: Int

    func run(_ course: Course, until isOver: () -> Bool) async throws {
        for fault in faults {
            let count = repetitions ?? fault.repetitions
            for number in 0..<count {
                guard !isOver() else {
                    return course.report.leaveOut(
                        "\(fault.name), \(count - number) times, and what remained: the time was up"
                    )
                }
                try await course.run(fault)
            }
        }
        guard sessions > 0 else { return }
        guard !isOver() else { return course.report.leaveOut("\(sessions) sessions: the time was up") }
        let churn = try await ChurnReport.run(sessions, on: course.rig)
        course.add(churn.episode)
        course.report.add(lines: churn.lines)
    }
}
