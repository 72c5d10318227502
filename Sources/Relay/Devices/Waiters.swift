import NIOCore

/// Tasks that wait for the same outcome.
@MediaLoop
final class Waiters<Outcome: Sendable> {
    /// A place in the queue. A caller takes it before the event can happen, so that it misses none.
    struct Ticket {
        fileprivate let id: Int
    }

    private enum Place {
        case reserved
        case waiting(CheckedContinuation<Outcome?, Never>)
        case resolved(Outcome)
    }

    private var places: [Int: Place] = [:]
    private var lastID = 0

    func ticket() -> Ticket {
        lastID += 1
        places[lastID] = .reserved
        return Ticket(id: lastID)
    }

    /// Returns the next outcome, or `nil` if there is none by `deadline`.
    func wait(until deadline: NIODeadline) async -> Outcome? { await wait(ticket(), until: deadline) }

    /// Returns the first outcome since `ticket` was taken, or `nil` if there is none by `deadline`.
    func wait(_ ticket: Ticket, until deadline: NIODeadline) async -> Outcome? {
        if case .resolved(let outcome) = places[ticket.id] {
            places[ticket.id] = nil
            return outcome
        }
        let timer =
            deadline == .distantFuture ? nil : MediaLoop.schedule(at: deadline) { self.resume(ticket, with: nil) }
        defer { timer?.cancel() }
        return await withCheckedContinuation { places[ticket.id] = .waiting($0) }
    }

    /// Resumes all waiting tasks.
    func resume(with outcome: Outcome) {
        for (id, place) in places {
            switch place {
            case .reserved: places[id] = .resolved(outcome)
            case .waiting: resume(Ticket(id: id), with: outcome)
            case .resolved: break
            }
        }
    }

    private func resume(_ ticket: Ticket, with outcome: Outcome?) {
        guard case .waiting(let continuation) = places.removeValue(forKey: ticket.id) else { return }
        continuation.resume(returning: outcome)
    }
}
