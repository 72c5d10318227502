extension Routes {
    static let events = [listenForEvents.route, followWall.route]

    package static let listenForEvents = Call<EventQuery, Bytes>(
        "listenForEvents",
        "/v1/events",
        for: .viewer,
        .monitoring,
        "Tells what happens, as it happens.",
        """
        The answer is a stream of server-sent events (WHATWG HTML, section 9.2). Each has an `id`; its `event` is the type, \
        and its `data` an Event. A request with `Last-Event-ID` first gets what happened after that event, if it is kept. \
        The stream lasts until the client or the relay ends it.
        """,
        answer: .stream("text/event-stream", "The events.")
    ) {
        $0.refusesBody = true
        $0.isScoped = true
    }

    package static let followWall = Call<NoArguments, Bytes>(
        "followWall",
        "/v1/wall",
        for: .viewer,
        .monitoring,
        "Shows small pictures of many sessions, and tells what happens, over one WebSocket.",
        "docs/reference/wall.md describes the messages. It wakes no session.",
        answer: .webSocket
    ) {
        $0.refusesBody = true
        $0.isScoped = true
        $0.ownProblems = [.upgradeRequired]
    }
}
