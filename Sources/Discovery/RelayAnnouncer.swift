import CAvahi
import Synchronization

/// Announces a relay in the local network by Avahi, for as long as it is not closed.
package final class RelayAnnouncer: @unchecked Sendable {
    // `@unchecked Sendable` because only the connection's thread uses the variables.

    /// What has become of an announcement.
    package enum State: Sendable, Equatable {
        /// Others can find the relay, by this name.
        case announced(name: String)
        /// Nobody can find it, and why. If the daemon comes back, it is announced again; for other reasons begin anew.
        case absent(String)
    }

    private let announcement: RelayAnnouncement
    private let port: UInt16
    private let isIPv4Only: Bool
    private var name: String
    private var group: OpaquePointer?
    private let announced = Mutex(false)
    private let told: @Sendable (State) -> Void
    private var connection: AvahiConnection?

    /// Begins.
    ///
    /// - Parameters:
    ///   - name: The service's name, at most 63 bytes. If another one has it, a number is added.
    ///   - isIPv4Only: Whether the relay has no IPv6 address.
    ///   - told: Gets each state, in any thread.
    package init(
        _ announcement: RelayAnnouncement,
        name: String,
        port: UInt16,
        isIPv4Only: Bool,
        told: @escaping @Sendable (State) -> Void
    ) {
        (self.announcement, self.name, self.port, self.isIPv4Only) = (announcement, name, port, isIPv4Only)
        self.told = told
        connection = AvahiConnection { [unowned self] connection, state in
            switch state {
            case .ready: publish(connection)
            case .absent(let reason):
                // It went with the client.
                group = nil
                tell(.absent(reason))
            }
        }
        if let problem = connection.map({ $0.start() }) ?? "no memory" { tell(.absent(problem)) }
    }

    /// Takes it back. Must be called once.
    package func close() { connection?.close() }

    /// Whether others can find the relay now.
    package var isAnnounced: Bool { announced.withLock { $0 } }

    private func tell(_ state: State) {
        announced.withLock { if case .announced = state { $0 = true } else { $0 = false } }
        told(state)
    }

    private func publish(_ connection: AvahiConnection) {
        guard let client = connection.handle else { return }
        if group == nil {
            let callback: AvahiEntryGroupCallback = { group, state, data in
                guard let data else { return }
                Unmanaged<RelayAnnouncer>.fromOpaque(data).takeUnretainedValue().became(state, group)
            }
            group = avahi_entry_group_new(client, callback, Unmanaged.passUnretained(self).toOpaque())
        }
        guard let group else { return tell(.absent(connection.problem)) }
        avahi_entry_group_reset(group)
        var text: UnsafeMutablePointer<AvahiStringList>?
        for string in announcement.record.reversed() { text = avahi_string_list_add(text, string) }
        defer { avahi_string_list_free(text) }
        var result = Int32(AVAHI_ERR_COLLISION)
        // Another service of this machine may have the name.
        for _ in 0..<16 where result == AVAHI_ERR_COLLISION {
            result = avahi_entry_group_add_service_strlst(
                group,
                AvahiIfIndex(AVAHI_IF_UNSPEC),
                AvahiProtocol(isIPv4Only ? AVAHI_PROTO_INET : AVAHI_PROTO_UNSPEC),
                AvahiPublishFlags(rawValue: 0),
                name,
                RelayAnnouncement.serviceType,
                nil,
                nil,
                port,
                text
            )
            if result == AVAHI_ERR_COLLISION { takeOtherName() }
        }
        if result == AVAHI_OK { result = avahi_entry_group_commit(group) }
        if result != AVAHI_OK { tell(.absent(AvahiConnection.text(result))) }
    }

    private func became(_ state: AvahiEntryGroupState, _ group: OpaquePointer?) {
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: tell(.announced(name: name))
        case AVAHI_ENTRY_GROUP_COLLISION:
            takeOtherName()
            if let connection { publish(connection) }
        case AVAHI_ENTRY_GROUP_FAILURE: tell(.absent(connection?.problem ?? ""))
        default: break
        }
    }

    private func takeOtherName() {
        guard let other = avahi_alternative_service_name(name) else { return }
        name = String(cString: other)
        avahi_free(other)
    }
}
