import HTTPTypes
import HeliographAPI
import Hummingbird
import Media
import NIOCore

extension API {
    func addEventRoute(to routes: inout RouteTable) {
        routes.respond(to: Routes.listenForEvents) { query, request, context in
            var filter = EventRing.Filter(query)
            filter.devices = context.caller.devices.map { Set($0) }
            return listen(query, filter, request)
        }
    }

    private func listen(_ query: EventQuery, _ filter: EventRing.Filter, _ request: Request) -> Response {
        let events = switchboard.events
        let name = request.headers[HTTPField.Name("Last-Event-ID")!]
        let body = ResponseBody { writer in
            let (listener, last) = events.join()
            do {
                try await request.body.consumeWithInboundCloseHandler { _ in
                    var number = events.number(ofEvent: name) ?? (query.follow ? last : 0)
                    // Shows the client that it is connected.
                    try await writer.write(ByteBuffer(string: ": events\n\n"))
                    repeat {
                        let found = events.events(after: number, filter)
                        number = found.last
                        // Sent even without an event: it reveals whether the client is still there.
                        try await writer.write(ByteBuffer(string: events.text(of: found)))
                        guard query.follow else { break }
                    } while await events.wait(listener, after: number)
                } onInboundClosed: {
                    events.leave(listener)
                }
            } catch {
                events.leave(listener)
                throw error
            }
            events.leave(listener)
            try await writer.finish(nil)
        }
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store", .connection: "close"]
        return Response(status: .ok, headers: headers, body: body)
    }
}

extension EventHub {
    /// Returns the number in the id of the last event that a client saw; `nil` without an id, 0 for one that this relay
    /// has not made.
    package func number(ofEvent id: String?) -> UInt64? {
        guard let id, !id.isEmpty else { return nil }
        let parts = id.split(separator: "-", maxSplits: 1)
        guard parts.first == instance[...], let number = parts[at: 1].flatMap({ UInt64($0, radix: 10) }),
            number <= last
        else { return 0 }
        return number
    }

    /// Returns events in the format of server-sent events (WHATWG HTML, section 9.2.5). The last block has no data but
    /// the id of the last event, so that a client whose filter leaves that out also continues there.
    fileprivate func text(of found: (events: [EventRing.Event], missed: UInt64, last: UInt64)) -> String {
        var text = ""
        if found.missed > 0 {
            text +=
                "event: \(EventReport.Kind.eventsMissed.rawValue)\ndata: \(EventReport.missed(found.missed).text)\n\n"
        }
        for event in found.events {
            text += "id: \(instance)-\(event.number)\nevent: \(event.kind.rawValue)\ndata: \(event.data)\n\n"
        }
        return text + "id: \(instance)-\(found.last)\n\n"
    }
}
