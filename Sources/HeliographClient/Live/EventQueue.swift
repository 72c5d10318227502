import NIOCore

/// The events that wait for the program. If there are too many, the oldest ones are left out.
struct EventQueue: MailQueue {
    /// The most events: minutes of them.
    static let mostEvents = 512

    private var events = CircularBuffer<LiveEvent>()

    var isEmpty: Bool { events.isEmpty }

    mutating func append(_ event: LiveEvent) {
        if events.count >= Self.mostEvents { _ = events.popFirst() }
        events.append(event)
    }

    mutating func take() -> LiveEvent? { events.popFirst() }
}
