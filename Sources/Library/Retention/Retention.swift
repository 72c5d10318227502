/// What may stay in the library. `nil` and empty mean no limit.
package struct RetentionLimits: Sendable, Equatable {
    /// The highest age of an item, in µs of the library's own clock.
    package var age: Int64?
    /// The most bytes of all files.
    package var bytes: Int64?
    /// The most bytes of each device's files.
    package var bytesPerDevice: Int64?
    /// The most bytes of the files that each owner's key began.
    package var bytesPerOwner: Int64?
    /// The bytes that must stay free on the disk.
    package var free: Int64?
    /// The most deletions of one pass.
    package var deletions = 100

    package init() {}

    /// Whether there is any limit.
    package var isEmpty: Bool {
        age == nil && bytes == nil && bytesPerDevice == nil && bytesPerOwner == nil && free == nil
    }
}

/// Decides which items to delete, in one pass from the oldest item on.
///
/// It is a value without clock and disk. Offer it the items with ``offer(_:)`` until it ``isDone``. Pinned and
/// recording items count for the totals but stay.
package struct RetentionPass: Sendable {
    /// What it must know of an item.
    package struct Candidate: Sendable, Equatable {
        package var id: Int64
        package var device: String
        package var owner: String?
        package var bytes: Int64
        /// When the catalogue learned of it, in µs of the library's own clock.
        package var aged: Int64
        package var isPinned: Bool
        package var state: ItemState

        package init(
            id: Int64,
            device: String,
            owner: String? = nil,
            bytes: Int64,
            aged: Int64,
            isPinned: Bool = false,
            state: ItemState = .complete
        ) {
            self.id = id
            self.device = device
            self.owner = owner
            self.bytes = bytes
            self.aged = aged
            self.isPinned = isPinned
            self.state = state
        }
    }

    /// Why an item must go.
    package enum Reason: String, Sendable {
        case age
        case bytes
        case device
        case owner
        case free
    }

    private let limits: RetentionLimits
    private let now: Int64
    private var total: Int64
    private var devices: [String: Int64]
    private var owners: [String: Int64]
    private var free: Int64
    private var deletions = 0
    /// The devices and owners that are over their limits.
    private var (fullDevices, fullOwners): (Set<String>, Set<String>)
    /// Whether the oldest items that can age are young.
    private var allYoung: Bool

    /// - Parameters:
    ///   - now: The time, in µs of the library's own clock.
    ///   - free: The free bytes of the disk.
    ///   - devices: The bytes of each device's files.
    ///   - owners: The bytes of each owner's files.
    package init(
        _ limits: RetentionLimits,
        now: Int64,
        free: Int64,
        devices: [String: Int64],
        owners: [String: Int64]
    ) {
        self.limits = limits
        self.now = now
        self.free = free
        self.devices = devices
        self.owners = owners
        total = devices.values.reduce(0, +)
        fullDevices = Set(devices.filter { $0.value > limits.bytesPerDevice ?? .max }.keys)
        fullOwners = Set(owners.filter { $0.value > limits.bytesPerOwner ?? .max }.keys)
        allYoung = limits.age == nil
    }

    /// Whether no further item needs to go in this pass.
    package var isDone: Bool {
        deletions >= limits.deletions
            || allYoung && fullDevices.isEmpty && fullOwners.isEmpty && total <= limits.bytes ?? .max
                && free >= limits.free ?? .min
    }

    /// Takes the next item, in the order of `aged`.
    ///
    /// - Returns: Why it must be deleted; `nil` if it stays. A deleted item counts as gone at once.
    package mutating func offer(_ item: Candidate) -> Reason? {
        guard !isDone, !item.isPinned, item.state != .recording else { return nil }
        guard let reason = reason(item) else { return nil }
        deletions += 1
        guard item.state != .missing else { return reason }
        total -= item.bytes
        free += item.bytes
        let left = devices[item.device, default: 0] - item.bytes
        devices[item.device] = left
        if left <= limits.bytesPerDevice ?? .max { fullDevices.remove(item.device) }
        if let owner = item.owner {
            let left = owners[owner, default: 0] - item.bytes
            owners[owner] = left
            if left <= limits.bytesPerOwner ?? .max { fullOwners.remove(owner) }
        }
        return reason
    }

    private mutating func reason(_ item: Candidate) -> Reason? {
        if let limit = limits.age {
            if now - item.aged > limit { return .age }
            // Later items are younger.
            allYoung = true
        }
        // A missing file has no bytes to free.
        guard item.state != .missing else { return nil }
        if total > limits.bytes ?? .max { return .bytes }
        if fullDevices.contains(item.device) { return .device }
        if let owner = item.owner, fullOwners.contains(owner) { return .owner }
        if free < limits.free ?? .min { return .free }
        return nil
    }
}
