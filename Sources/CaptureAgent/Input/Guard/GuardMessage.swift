/// What a guard is told: everything that is held, each time. A value.
///
/// A message is a packet of a socket. An item is a byte for its kind and a 32-bit number, most significant byte first.
package struct GuardMessage: Sendable, Equatable {
    /// The most items. Nobody holds more.
    package static let capacity = 1_000
    private static let itemSize = 5

    package var items: [HeldInput.Item]

    package init(_ items: [HeldInput.Item]) {
        self.items = items
    }

    /// - Returns: `nil` if it is not a message.
    package init?(bytes: some Sequence<UInt8>) {
        items = []
        var iterator = bytes.makeIterator()
        while let kind = iterator.next() {
            var number: UInt32 = 0
            for _ in 0..<Self.itemSize - 1 {
                guard let byte = iterator.next() else { return nil }
                number = number << 8 | UInt32(byte)
            }
            switch kind {
            case 1: items.append(.button(UInt16(truncatingIfNeeded: number)))
            case 2: items.append(.key(number))
            case 3: items.append(.touch(UInt8(truncatingIfNeeded: number)))
            default: return nil
            }
        }
    }

    package var bytes: [UInt8] {
        items.suffix(Self.capacity).flatMap { item -> [UInt8] in
            let (kind, number): (UInt8, UInt32) =
                switch item {
                case .button(let code): (1, UInt32(code))
                case .key(let keysym): (2, keysym)
                case .touch(let id): (3, UInt32(id))
                }
            return [kind] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        }
    }
}
