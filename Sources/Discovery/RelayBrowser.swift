import CAvahi
import Program
import Synchronization

/// A relay that was found in the local network.
package struct FoundRelay: Sendable, Hashable {
    /// The service's name, for people.
    package let name: String
    /// The machine's name, such as `wall.local`, and its address.
    package let host: String
    package let address: String
    package let port: UInt16
    package let announcement: RelayAnnouncement

    /// The relay's address for calls.
    package var url: String { "https://\(Authority.text(address, Int(port)))" }
}

/// Looks for relays in the local network by Avahi, for as long as it is not closed.
package final class RelayBrowser: @unchecked Sendable {
    // `@unchecked Sendable` because the connection's thread alone uses the variables without a lock.

    /// The most relays that are kept. Any machine in the network can announce more.
    private static let most = 256

    private struct Kept {
        var found: [String: FoundRelay] = [:]
        var problem: String?
    }

    private let kept = Mutex(Kept())
    private var browser: OpaquePointer?
    private var connection: AvahiConnection?

    /// Begins.
    package init() {
        connection = AvahiConnection { [unowned self] connection, state in
            switch state {
            case .ready:
                kept.withLock { $0.problem = nil }
                browse(connection)
            case .absent(let reason):
                // It went with the client.
                browser = nil
                kept.withLock { $0 = Kept(problem: reason) }
            }
        }
        if let problem = connection.map({ $0.start() }) ?? "no memory" { kept.withLock { $0.problem = problem } }
    }

    /// Ends. Must be called once.
    package func close() { connection?.close() }

    /// The relays, by name and address. One that is heard by several ways counts once: a name is one relay's.
    package var relays: [FoundRelay] {
        let found = kept.withLock { $0.found.values.sorted { ($0.name, $0.url) < ($1.name, $1.url) } }
        var known: Set<String> = []
        return found.filter { known.insert($0.name).inserted }
    }

    /// Why nothing can be found; `nil` if it can.
    package var problem: String? { kept.withLock { $0.problem } }

    private func browse(_ connection: AvahiConnection) {
        guard let client = connection.handle, browser == nil else { return }
        browser = avahi_service_browser_new(
            client,
            AvahiIfIndex(AVAHI_IF_UNSPEC),
            AvahiProtocol(AVAHI_PROTO_UNSPEC),
            RelayAnnouncement.serviceType,
            nil,
            AvahiLookupFlags(rawValue: 0),
            { _, interface, network, event, name, type, domain, _, data in
                guard let data else { return }
                let browser = Unmanaged<RelayBrowser>.fromOpaque(data).takeUnretainedValue()
                if event == AVAHI_BROWSER_FAILURE { return browser.fail() }
                guard let name, let type, let domain else { return }
                browser.heard(event, interface, network, name, type, domain)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        if browser == nil { fail() }
    }

    private func fail() { kept.withLock { $0.problem = connection?.problem ?? "" } }

    private func heard(
        _ event: AvahiBrowserEvent,
        _ interface: AvahiIfIndex,
        _ network: AvahiProtocol,
        _ name: UnsafePointer<CChar>,
        _ type: UnsafePointer<CChar>,
        _ domain: UnsafePointer<CChar>
    ) {
        switch event {
        case AVAHI_BROWSER_NEW:
            guard let client = connection?.handle else { return }
            // Its callback frees it after the first answer.
            avahi_service_resolver_new(
                client,
                interface,
                network,
                name,
                type,
                domain,
                network,
                AvahiLookupFlags(rawValue: 0),
                { resolver, interface, network, event, name, _, _, host, address, port, text, _, data in
                    if let data, event == AVAHI_RESOLVER_FOUND, let name, let host, let address {
                        let browser = Unmanaged<RelayBrowser>.fromOpaque(data).takeUnretainedValue()
                        browser.resolved(RelayBrowser.key(interface, network, name), name, host, address, port, text)
                    }
                    avahi_service_resolver_free(resolver)
                },
                Unmanaged.passUnretained(self).toOpaque()
            )
        case AVAHI_BROWSER_REMOVE:
            kept.withLock { _ = $0.found.removeValue(forKey: Self.key(interface, network, name)) }
        default: break
        }
    }

    private func resolved(
        _ key: String,
        _ name: UnsafePointer<CChar>,
        _ host: UnsafePointer<CChar>,
        _ address: UnsafePointer<AvahiAddress>,
        _ port: UInt16,
        _ text: UnsafeMutablePointer<AvahiStringList>?
    ) {
        var strings: [[UInt8]] = []
        var next = text
        while let string = next, strings.count < 32 {
            let size = avahi_string_list_get_size(string)
            strings.append(Array(UnsafeBufferPointer(start: avahi_string_list_get_text(string), count: size)))
            next = avahi_string_list_get_next(string)
        }
        var words = [CChar](repeating: 0, count: Int(AVAHI_ADDRESS_STR_MAX))
        guard let announcement = RelayAnnouncement(record: strings),
            avahi_address_snprint(&words, words.count, address) != nil
        else { return }
        let place = Self.plain(words.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" })
        // An address of one link says nothing without its interface.
        guard !place.hasPrefix("fe80:") else { return }
        let found = FoundRelay(
            name: Self.plain(String(cString: name)),
            host: Self.plain(String(cString: host)),
            address: place,
            port: port,
            announcement: announcement
        )
        kept.withLock { if $0.found.count < Self.most || $0.found[key] != nil { $0.found[key] = found } }
    }

    private static func key(_ interface: AvahiIfIndex, _ network: AvahiProtocol, _ name: UnsafePointer<CChar>) -> String
    { "\(interface) \(network) \(String(cString: name))" }

    /// Returns a name without characters on which a terminal would act, or that change the order of others.
    private static func plain(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter {
            ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
        }
        var plain = String.UnicodeScalarView()
        plain.append(contentsOf: scalars.prefix(255))
        return String(plain)
    }
}
