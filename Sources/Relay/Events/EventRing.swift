package import HeliographAPI
import NIOCore

/// The last events by number, for listeners and for clients that reconnect.
package struct EventRing: Sendable {
    /// How many events are kept.
    package static let capacity = 1000

    /// One event in the ring.
    package struct Event: Sendable {
        /// The event's number, counted from 1.
        package let number: UInt64
        package let kind: EventReport.Kind
        let device: String?
        let session: UInt32?
        /// An ``EventReport`` as JSON.
        package let data: String
    }

    /// The events that a listener wants.
    package struct Filter: Sendable {
        let kinds: Set<EventReport.Kind>?
        let subject: Subject
        var session: UInt32?

        package init(_ query: EventQuery) {
            kinds = query.kinds
            subject = query.device.map(Subject.device) ?? .anything
            session = query.session.map { UInt32(clamping: $0) }
        }

        init(kinds: Set<EventReport.Kind>?, subject: Subject) {
            self.kinds = kinds
            self.subject = subject
        }

        func takes(_ event: Event) -> Bool {
            kinds?.contains(event.kind) != false && subject.includes(event)
                && (session == nil || session == event.session)
        }
    }

    /// The subject of an event.
    package enum Subject: Sendable, Hashable {
        case anything
        case device(String)
        /// The relay itself, not a device.
        case relay

        func includes(_ event: Event) -> Bool {
            switch self {
            case .anything: true
            case .device(let name): event.device == name
            case .relay: event.device == nil
            }
        }
    }

    /// The number of the last event; 0 before the first.
    package private(set) var last: UInt64 = 0
    /// The events, by number modulo the capacity.
    private var events: [Event] = []

    package init() {}

    package mutating func add(_ report: EventReport) {
        last += 1
        let event = Event(
            number: last,
            kind: EventReport.Kind(rawValue: report.type) ?? .eventsMissed,
            device: report.device,
            session: report.session,
            data: report.text
        )
        if events.count < Self.capacity {
            events.append(event)
        } else {
            events[Int((last - 1) % UInt64(Self.capacity))] = event
        }
    }

    /// Returns the events after a number that match a filter, in order, and how many later ones are no longer kept.
    package func events(after number: UInt64, _ filter: Filter) -> (events: [Event], missed: UInt64) {
        guard number < last else { return ([], 0) }
        let first = max(number + 1, last + 1 - UInt64(events.count))
        let found = (first...last).map { events[Int(($0 - 1) % UInt64(Self.capacity))] }.filter(filter.takes)
        return (found, first - number - 1)
    }
}

extension EventReport {
    /// Returns the event that reports missed events.
    static func missed(_ count: UInt64) -> EventReport {
        var report = EventReport()
        report.type = Kind.eventsMissed.rawValue
        report.at = NIODeadline.now().wallClockText
        report.state = "\(count)"
        return report
    }

    /// The report as JSON. It is written by hand because events are made on the media loop, where the encoder is too
    /// slow.
    var text: String {
        JSONValue.object([
            .init(name: "type", value: .string(type)), .init(name: "at", value: .string(at)),
            .init(name: "device", value: JSONValue(device)),
            .init(name: "session", value: session.map { .integer(Int($0)) } ?? .null),
            .init(name: "name", value: JSONValue(name)), .init(name: "state", value: JSONValue(state)),
        ]).text
    }
}
