import CAvahi

/// A connection to this machine's Avahi daemon, with a thread that waits for what it says.
///
/// It lasts while the daemon does not run, and goes on when it does. If the bus ends, it does not. Its handler is
/// called by that thread, and by ``start()``.
final class AvahiConnection {
    /// What has become of the daemon.
    enum State: Equatable {
        /// It answers now, also again.
        case ready
        /// It is not there, or was lost. What was made with the client is gone.
        case absent(String)
    }

    private let poll: OpaquePointer
    private var client: OpaquePointer?
    private let changed: (AvahiConnection, State) -> Void

    /// - Parameter changed: Told each state.
    /// - Returns: `nil` without memory.
    init?(_ changed: @escaping (AvahiConnection, State) -> Void) {
        guard let poll = avahi_threaded_poll_new() else { return nil }
        (self.poll, self.changed) = (poll, changed)
    }

    /// Connects.
    ///
    /// - Returns: Why it cannot; `nil` if it can, which does not mean that the daemon runs.
    func start() -> String? {
        if let problem = connect() { return problem }
        return avahi_threaded_poll_start(poll) < 0 ? "no thread" : nil
    }

    /// Ends the thread, then the connection with all that was made with it. Must be called once, not by the thread.
    func close() {
        avahi_threaded_poll_stop(poll)
        if let client { avahi_client_free(client) }
        avahi_threaded_poll_free(poll)
    }

    /// The client; for the thread only.
    var handle: OpaquePointer? { client }

    /// The last error in words.
    var problem: String { client.map { Self.text(avahi_client_errno($0)) } ?? "" }

    private func connect() -> String? {
        var error: Int32 = 0
        let callback: AvahiClientCallback = { client, state, data in
            guard let data else { return }
            Unmanaged<AvahiConnection>.fromOpaque(data).takeUnretainedValue().became(state, client)
        }
        let data = Unmanaged.passUnretained(self).toOpaque()
        client = avahi_client_new(avahi_threaded_poll_get(poll), AVAHI_CLIENT_NO_FAIL, callback, data, &error)
        return client == nil ? Self.text(error) : nil
    }

    private func became(_ state: AvahiClientState, _ client: OpaquePointer?) {
        // The first call comes before `avahi_client_new` has returned.
        if self.client == nil { self.client = client }
        switch state {
        case AVAHI_CLIENT_S_RUNNING: changed(self, .ready)
        case AVAHI_CLIENT_CONNECTING: changed(self, .absent("the Avahi daemon does not run"))
        case AVAHI_CLIENT_FAILURE:
            changed(self, .absent(problem))
            // Only a new client hears of a daemon that is started again.
            if let client { avahi_client_free(client) }
            self.client = nil
            if let reason = connect() { changed(self, .absent(reason)) }
        default: break
        }
    }

    static func text(_ error: Int32) -> String { avahi_strerror(error).map { String(cString: $0) } ?? "" }
}
