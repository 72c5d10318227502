import Program
package import Wire

/// Answers of an agent that is a test.
extension LinkClient {
    /// Answers the next order about the clipboard, and returns what it was for.
    package func answerClipboard(_ outcome: ClipboardReport.Outcome) async throws -> ClipboardOrder.Request {
        let order = try await first { if case .clipboard(let order) = $0 { order } else { nil } }
        try await send(.clipboardDone(ClipboardReport(id: order.id, outcome: outcome)))
        return order.request
    }

    package func nextApplicationOrder() async throws -> ApplicationOrder {
        try await first { if case .application(let order) = $0 { order } else { nil } }
    }

    /// Answers the next order about applications, as an agent whose applications are in this state.
    @discardableResult
    package func answerApplication(
        running: Bool = true,
        status: Int? = nil,
        signal: Int? = nil,
        refusal: ApplicationAnswer.Refusal? = nil
    ) async throws -> ApplicationOrder {
        let order = try await nextApplicationOrder()
        let states = order.applications.map {
            ApplicationState(
                id: $0.id,
                process: ProcessIdentity(pid: 4711, started: 815),
                isRunning: running,
                status: status,
                signal: signal
            )
        }
        try await send(
            .applicationDone(
                ApplicationAnswer(
                    order: order.order,
                    refusal: refusal,
                    detail: refusal.map { _ in "because" },
                    applications: refusal == nil || refusal == .failed ? states : []
                )
            )
        )
        return order
    }
}
