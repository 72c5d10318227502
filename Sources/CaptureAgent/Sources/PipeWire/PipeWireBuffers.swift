import CPipeWire

/// The numbered buffers that PipeWire has given a stream, and their memory.
struct PipeWireBuffers {
    private struct Entry {
        let number: Int
        let buffer: UnsafeMutablePointer<pw_buffer>
        /// The memory of the frames that the buffer is lent to. `nil` before the first frame, and for a DMA-BUF.
        var memory: PixelMemory?
    }

    /// An array of a few entries, because changing a dictionary's values in place allocates memory.
    private var entries: [Entry] = []
    private var nextNumber = 0

    var count: Int { entries.count }

    mutating func add(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        entries.append(Entry(number: nextNumber, buffer: buffer))
        // The number is stored in the buffer's user field, in which 0 means none. Hence one is added.
        buffer.pointee.user_data = UnsafeMutableRawPointer(bitPattern: nextNumber + 1)
        nextNumber += 1
    }

    /// Removes a buffer.
    ///
    /// - Returns: Its number and memory.
    mutating func remove(_ buffer: UnsafeMutablePointer<pw_buffer>) -> (number: Int, memory: PixelMemory?)? {
        guard let number = number(of: buffer), let place = place(of: number) else { return nil }
        return (number, entries.remove(at: place).memory)
    }

    func number(of buffer: UnsafeMutablePointer<pw_buffer>) -> Int? {
        buffer.pointee.user_data.map { Int(bitPattern: $0) - 1 }
    }

    func buffer(_ number: Int) -> UnsafeMutablePointer<pw_buffer>? {
        place(of: number).map { entries[$0].buffer }
    }

    /// Returns a buffer's memory at `first`, which stays the same for all frames until it is taken.
    mutating func memory(_ number: Int, at first: UnsafeRawPointer, byteCount: Int) -> PixelMemory {
        let place = place(of: number)
        if let place, let memory = entries[place].memory, memory.isLent(at: first, byteCount: byteCount) {
            return memory
        }
        let memory = PixelMemory(first, byteCount: byteCount)
        if let place { entries[place].memory = memory }
        return memory
    }

    /// Takes a buffer's memory, so that its frame can keep it.
    mutating func takeMemory(_ number: Int) -> PixelMemory? {
        guard let place = place(of: number) else { return nil }
        return exchange(&entries[place].memory, with: nil)
    }

    private func place(of number: Int) -> Int? { entries.firstIndex { $0.number == number } }
}
