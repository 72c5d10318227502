package import NIOCore

/// Decides who may act on a device: one caller at a time. A pure value.
package struct InputControl: Sendable {
    /// A caller that acts, by what distinguishes it from others.
    package enum Caller: Sendable, Hashable, CustomStringConvertible {
        /// The holder of the key of this name.
        case key(String)
        /// A process of the relay's own user, while there are no keys.
        case local

        package var description: String {
            switch self {
            case .key(let name): name
            case .local: "local"
            }
        }

        /// The caller in a sentence for people.
        var who: String {
            switch self {
            case .key(let name): "the key \(name)"
            case .local: "a local process"
            }
        }
    }

    /// The answer to a caller that wants to act.
    package enum Claim: Sendable, Equatable {
        /// - `former`: the caller that controlled the device until now, if it is another one.
        case granted(former: Caller?)
        case refused(by: Caller)
    }

    /// How long a caller without further actions keeps control.
    package static let idleTime = TimeAmount.seconds(5)

    /// The caller that controls the device; `nil` for none.
    package private(set) var holder: Caller?
    /// The number of the holder's calls that are under way.
    private var running = 0
    private var lastUse = NIODeadline.now()
    /// Whether the holder keeps control while it is idle, until another caller wants it.
    private var stays = false

    package init() {}

    /// Begins a call of `caller`. Each one that is granted needs an ``end(of:now:)``.
    ///
    /// - Parameter takes: Whether it takes control from another caller.
    package mutating func claim(by caller: Caller, takes: Bool, now: NIODeadline) -> Claim {
        _ = lapse(now: now)
        if let holder, holder != caller {
            guard takes || isIdle(now: now) else { return .refused(by: holder) }
        }
        let former = holder == caller ? nil : holder
        if holder != caller { (holder, running, stays) = (caller, 0, false) }
        running += 1
        lastUse = now
        return .granted(former: former)
    }

    /// Ends a call of `caller`, who may have lost control since.
    package mutating func end(of caller: Caller, now: NIODeadline) {
        guard holder == caller else { return }
        running = max(0, running - 1)
        lastUse = now
    }

    /// Lets `caller` keep control while it is idle, until another caller wants it.
    package mutating func stay(_ caller: Caller) {
        if holder == caller { stays = true }
    }

    private func isIdle(now: NIODeadline) -> Bool { running == 0 && now - lastUse >= Self.idleTime }

    /// Ends the control of `caller`, unless a call of it is under way.
    package mutating func leave(_ caller: Caller) {
        guard holder == caller else { return }
        stays = false
        if running == 0 { holder = nil }
    }

    /// Ends the control of a caller that has been idle for too long.
    ///
    /// - Returns: Whether it has ended.
    package mutating func lapse(now: NIODeadline) -> Bool {
        guard holder != nil, !stays, isIdle(now: now) else { return false }
        holder = nil
        return true
    }
}
