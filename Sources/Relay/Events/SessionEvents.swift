import HeliographAPI

/// Publishes the events of a session: its feed, and what else happens to it.
@MediaLoop
final class SessionEvents: Sink {
    private let hub: EventHub
    private let device: String
    private let session: UInt32
    private let name: String?

    init(_ hub: EventHub, device: String, session: UInt32, name: String?) {
        self.hub = hub
        self.device = device
        self.session = session
        self.name = name
    }

    let demand = Demand.none

    func take(_ item: StreamItem) {
        if case .feed(let source) = item { publish(.feedChanged, state: source.rawValue) }
    }

    func publish(_ kind: EventReport.Kind, state: String? = nil) {
        hub.publish(kind, device: device, session: session, name: name, state: state)
    }
}
