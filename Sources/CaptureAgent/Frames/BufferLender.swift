import Synchronization

/// A buffer that is lent to a frame.
package struct BufferLease: Sendable {
    package let buffer: Int
    package let lender: BufferLender

    package func giveBack() { lender.giveBack(buffer) }
}

/// The account of a source's buffers: which are lent to frames, and which have been given back.
///
/// Any thread may drop a frame, but only the source's thread may queue buffers. That thread collects them when it is
/// woken.
package final class BufferLender: Sendable {
    /// The number of buffers that a producer always keeps. Without a free buffer it drops its next frame.
    private static let producersShare = 2

    private struct State {
        var total = 0
        var lent: Set<Int> = []
        var returned: [Int] = []

        /// Whether the producer may soon run out of buffers.
        ///
        /// Otherwise, returned buffers can wait: one of the producer's next pictures takes them along at no cost.
        var isShort: Bool { lent.count + returned.count + BufferLender.producersShare >= total - 1 }
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: Asks the source's thread to call ``collect()``; may be called in any thread.
    package init(wake: @escaping @Sendable () -> Void) {
        self.wake = wake
    }

    /// Sets how many buffers the source has.
    package func setTotal(_ total: Int) { state.withLock { $0.total = total } }

    /// Whether another buffer can be lent.
    package var canLend: Bool { state.withLock { $0.lent.count + Self.producersShare < $0.total } }

    /// The buffers that are lent.
    package var lent: Set<Int> { state.withLock { $0.lent } }

    package func lend(_ buffer: Int) -> BufferLease {
        state.withLock { _ = $0.lent.insert(buffer) }
        return BufferLease(buffer: buffer, lender: self)
    }

    package func giveBack(_ buffer: Int) {
        let isWanted = state.withLock { state in
            guard state.lent.remove(buffer) != nil else { return false }
            state.returned.append(buffer)
            return state.isShort
        }
        if isWanted { wake() }
    }

    /// Forgets a buffer that the source has lost, so that it will not be collected.
    ///
    /// - Returns: Whether the buffer was lent.
    @discardableResult
    package func forget(_ buffer: Int) -> Bool {
        state.withLock { state in
            state.returned.removeAll { $0 == buffer }
            return state.lent.remove(buffer) != nil
        }
    }

    /// Passes every buffer that was given back since the last call to `body`, the last one first.
    package func collect(_ body: (Int) -> Void) {
        // One at a time, because taking out the whole array would allocate a new one for each picture.
        while let buffer = state.withLock({ $0.returned.popLast() }) { body(buffer) }
    }
}
