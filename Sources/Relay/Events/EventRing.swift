package import HeliographAPI
import NIOCore

/// The last events by number, for listeners and for clients that reconnect.
///
/// Events that viewers cause are kept apart from the others, so that many waits or viewers displace no event of a
/// broadcast or a session.
package struct EventRing: Sendable {
    /// How many events of each kind of cause are kept.
    package static let capacity = 1000

    /// Events of one kind of cause.
    private struct Shelf {
        /// The events; the oldest one is at `first`.
        var events: [Event] = []
        var first = 0
        /// How many events are no longer kept, and the number of the last of them.
        var dropped: (count: UInt64, last: UInt64) = (0, 0)

        mutating func add(_ event: Event) {
            guard events.count == EventRing.capacity else { return events.append(event) }
            dropped = (dropped.count + 1, events[first].number)
            events[first] = event
            first = (first + 1) % EventRing.capacity
        }

        /// Returns the events after a number that match a filter, in order.
        func events(after number: UInt64, _ filter: Filter) -> [Event] {
            var found: [Event] = []
            for place in stride(from: events.count - 1, through: 0, by: -1) {
                let event = events[(first + place) % events.count]
                guard event.number > number else { break }
                if filter.takes(event) { found.append(event) }
            }
            return found.reversed()
        }

        /// Returns at most how many events after a number are no longer kept.
        func missed(after number: UInt64) -> UInt64 {
            number < dropped.last ? min(dropped.count, dropped.last - number) : 0
        }
    }

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
        /// Only events of these devices, and none of the relay itself; `nil` for all.
        package var devices: Set<String>?

        package init(_ query: EventQuery) {
            kinds = query.kinds
            subject = query.device.map(Subject.device) ?? .anything
            session = query.session.map { UInt32(clamping: $0) }
        }

        init(kinds: Set<EventReport.Kind>?, subject: Subject) {
            self.kinds = kinds
            self.subject = subject
        }

        /// Whether it wants events of a kind of cause.
        fileprivate func takes(causedByViewer: Bool) -> Bool {
            kinds?.contains { $0.isCausedByViewer == causedByViewer } != false
        }

        func takes(_ event: Event) -> Bool {
            kinds?.contains(event.kind) != false && subject.includes(event)
                && (session == nil || session == event.session)
                && (devices == nil || event.device.map { devices?.contains($0) == true } == true)
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
    private var viewers = Shelf()
    private var others = Shelf()

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
        if event.kind.isCausedByViewer { viewers.add(event) } else { others.add(event) }
    }

    /// Returns the events after a number that match a filter, in order, and at most how many of those that are no
    /// longer kept did.
    package func events(after number: UInt64, _ filter: Filter) -> (events: [Event], missed: UInt64) {
        guard number < last else { return ([], 0) }
        var (found, missed): ([Event], UInt64) = ([], 0)
        for (shelf, isViewers) in [(others, false), (viewers, true)] where filter.takes(causedByViewer: isViewers) {
            found += shelf.events(after: number, filter)
            missed += shelf.missed(after: number)
        }
        return (found.sorted { $0.number < $1.number }, missed)
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
