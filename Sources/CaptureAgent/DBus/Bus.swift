import CSystemd
import Glibc

/// The reason why a D-Bus call failed.
enum BusError: Error, Equatable {
    /// There is no session bus.
    case noBus(String)
    /// The peer answered with an error: its name, such as `org.freedesktop.DBus.Error.ServiceUnknown`, and its text.
    case refused(name: String, message: String)
    case timeout
    /// The event that ends the wait was set.
    case stopped
    /// A message could not be built or did not have the expected form.
    case malformed(String)
}

/// A connection to the session bus, used by one thread.
final class Bus {
    private static let daemon = BusTarget(
        service: "org.freedesktop.DBus",
        path: "/org/freedesktop/DBus",
        interface: "org.freedesktop.DBus"
    )
    /// The time limit of calls to the bus itself, in ns.
    private static let ownCallTimeout: UInt64 = .milliseconds(5_000)

    private let handle: OpaquePointer

    init() throws(BusError) {
        var bus: OpaquePointer?
        let result = sd_bus_open_user(&bus)
        guard result >= 0, let bus else { throw .noBus(String(cString: strerror(-result))) }
        handle = bus
        // For the calls that sd-bus makes on its own, such as adding a match.
        sd_bus_set_method_call_timeout(bus, Self.ownCallTimeout / 1000)
    }

    deinit {
        sd_bus_flush_close_unref(handle)
    }

    /// A descriptor that is readable when something has come; for `poll` only.
    var descriptor: Int32 { sd_bus_get_fd(handle) }

    /// This connection's unique name, for example `:1.42`.
    var uniqueName: String {
        var name: UnsafePointer<CChar>?
        return sd_bus_get_unique_name(handle, &name) >= 0 ? name.map { String(cString: $0) } ?? "" : ""
    }

    /// What to poll for. Once it is ready, a wait has messages to handle.
    var interest: Poll.Interest { Poll.Interest(sd_bus_get_fd(handle), events: sd_bus_get_events(handle)) }

    /// Calls a method and waits for its reply.
    ///
    /// - Parameters:
    ///   - timeout: In ns.
    ///   - arguments: Appends the arguments to the message.
    func call(
        _ target: BusTarget,
        _ method: String,
        timeout: UInt64,
        arguments: (BusMessage) throws(BusError) -> Void = { (_) throws(BusError) in }
    ) throws(BusError) -> BusMessage {
        var message: OpaquePointer?
        let made = sd_bus_message_new_method_call(
            handle,
            &message,
            target.service,
            target.path,
            target.interface,
            method
        )
        guard made >= 0, let message else { throw .malformed(String(cString: strerror(-made))) }
        let request = BusMessage(adopting: message)
        try arguments(request)

        let deadline = MonotonicClock.now + timeout
        var error = sd_bus_error()
        defer { sd_bus_error_free(&error) }
        var reply: OpaquePointer?
        let result = sd_bus_call(handle, message, timeout / 1000, &error, &reply)
        if result >= 0, let reply { return BusMessage(adopting: reply) }
        // A peer that exits without an answer gives the same code immediately.
        if result == -ETIMEDOUT, MonotonicClock.now + .milliseconds(10) >= deadline { throw .timeout }
        throw .refused(
            name: error.name.map { String(cString: $0) } ?? "",
            message: error.message.map { String(cString: $0) } ?? String(cString: strerror(-result))
        )
    }

    /// Returns whether the well-known name `service` has an owner now.
    func hasOwner(_ service: String, timeout: UInt64) throws(BusError) -> Bool {
        let reply = try call(Self.daemon, "NameHasOwner", timeout: timeout) { message throws(BusError) in
            try message.append(service)
        }
        return try reply.readBoolean()
    }

    /// Reads a property of type `u` (32-bit unsigned).
    func unsignedProperty(_ target: BusTarget, _ name: String, timeout: UInt64) throws(BusError) -> UInt32 {
        try property(target, name, timeout: timeout).readVariant("u") { message throws(BusError) in
            try message.readUnsigned()
        }
    }

    /// Reads a property of type `s` (string).
    func stringProperty(_ target: BusTarget, _ name: String, timeout: UInt64) throws(BusError) -> String {
        try property(target, name, timeout: timeout).readVariant("s") { message throws(BusError) in
            try message.readString()
        }
    }

    private func property(_ target: BusTarget, _ name: String, timeout: UInt64) throws(BusError) -> BusMessage {
        let properties = BusTarget(
            service: target.service,
            path: target.path,
            interface: "org.freedesktop.DBus.Properties"
        )
        return try call(properties, "Get", timeout: timeout) { message throws(BusError) in
            try message.append(target.interface)
            try message.append(name)
        }
    }

    /// Calls `handler` for every signal `member` of `target` while ``wait(until:stop:_:)`` runs.
    ///
    /// Dropping the subscription ends it.
    func subscribe(
        _ target: BusTarget,
        _ member: String,
        _ handler: @escaping (BusMessage) -> Void
    ) throws(BusError) -> BusSubscription {
        let subscription = BusSubscription(handler)
        try subscription.attach(to: handle, target, member)
        return subscription
    }

    /// Calls `handler` whenever the well-known name `service` loses its owner while ``wait(until:stop:_:)`` runs.
    func subscribeToLoss(of service: String, _ handler: @escaping () -> Void) throws(BusError) -> BusSubscription {
        try subscribe(Self.daemon, "NameOwnerChanged") { message in
            // The arguments are the name, its old owner and its new one.
            guard (try? message.readString()) == service, (try? message.readString())?.isEmpty == false else { return }
            handler()
        }
    }

    /// Handles messages until `isDone` returns `true`, one of `events` is set, or the deadline has passed.
    ///
    /// - Parameter deadline: Monotonic ns; `nil` for none.
    /// - Returns: Whether it is done, or the bus is gone.
    func waitUntil(orAny events: [Event], until deadline: UInt64? = nil, _ isDone: () -> Bool) -> Bool {
        do {
            try wait(until: deadline, stop: events, isDone)
            return true
        } catch .stopped, .timeout {
            return false
        } catch {
            return true
        }
    }

    /// Handles messages until `isDone` returns `true` or the deadline (monotonic ns) has passed.
    ///
    /// - Returns: Whether it is done.
    func waits(until deadline: UInt64, stop events: [Event], _ isDone: () -> Bool) throws(BusError) -> Bool {
        do {
            try wait(until: deadline, stop: events, isDone)
            return true
        } catch .timeout {
            return false
        } catch {
            throw error
        }
    }

    /// Handles messages until `isDone` returns `true`.
    ///
    /// - Parameters:
    ///   - deadline: Monotonic ns; `nil` for none.
    ///   - events: Each of them ends the wait with `BusError.stopped`.
    func wait(until deadline: UInt64?, stop events: [Event], _ isDone: () -> Bool) throws(BusError) {
        while true {
            let processed = sd_bus_process(handle, nil)
            if processed < 0 { throw .noBus(String(cString: strerror(-processed))) }
            if isDone() { return }
            if processed > 0 { continue }
            if events.contains(where: \.isSet) { throw .stopped }
            let now = MonotonicClock.now
            if let deadline, now >= deadline { throw .timeout }
            _ = Poll.wait(
                for: [interest] + events.map { Poll.Interest($0.descriptor) },
                timeout: deadline.map { $0 - now }
            )
        }
    }
}

/// An interface of an object of a service.
struct BusTarget {
    var service: String
    var path: String
    var interface: String
}

/// An active signal match. Dropping it removes the match.
final class BusSubscription {
    private let handler: (BusMessage) -> Void
    private var slot: OpaquePointer?

    fileprivate init(_ handler: @escaping (BusMessage) -> Void) {
        self.handler = handler
    }

    deinit {
        sd_bus_slot_unref(slot)
    }

    fileprivate func attach(to bus: OpaquePointer, _ target: BusTarget, _ member: String) throws(BusError) {
        // The object owns the slot, and the bus keeps the object's address only while the slot lives.
        let result = sd_bus_match_signal(
            bus,
            &slot,
            target.service,
            target.path,
            target.interface,
            member,
            { message, data, _ in
                guard let message, let data else { return 0 }
                let subscription = Unmanaged<BusSubscription>.fromOpaque(data).takeUnretainedValue()
                subscription.handler(BusMessage(retaining: message))
                return 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        if result < 0 { throw .refused(name: "", message: String(cString: strerror(-result))) }
    }
}
