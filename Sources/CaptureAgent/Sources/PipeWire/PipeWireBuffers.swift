import CPipeWire

/// The buffers that PipeWire has given a stream, numbered, and their memory.
struct PipeWireBuffers {
    private struct Entry {
        let number: Int
        let buffer: UnsafeMutablePointer<pw_buffer>
        /// Where the pixels of the frames that it is lent to are. Nil before the first, and where it is a DMA-BUF.
        var memory: PixelMemory?
    }

    /// A few. An array, since changing a dictionary's values in place allocates.
    private var entries: [Entry] = []
    private var nextNumber = 0

    var count: Int { entries.count }

    mutating func add(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        entries.append(Entry(number: nextNumber, buffer: buffer))
        // The number rides in the buffer, which has a field for its user. 0 means none, hence the one more.
        buffer.pointee.user_data = UnsafeMutableRawPointer(bitPattern: nextNumber + 1)
        nextNumber += 1
    }

    /// Removes a buffer; returns its number and memory.
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

    /// A buffer's memory at `first`: the same for all frames until it is taken out.
    mutating func memory(_ number: Int, at first: UnsafeRawPointer, byteCount: Int) -> PixelMemory {
        let place = place(of: number)
        if let place, let memory = entries[place].memory, memory.isLent(at: first, byteCount: byteCount) {
            return memory
        }
        let memory = PixelMemory(first, byteCount: byteCount)
        if let place { entries[place].memory = memory }
        return memory
    }

    /// Takes a buffer's memory out, for its frame to keep.
    mutating func takeMemory(_ number: Int) -> PixelMemory? {
        guard let place = place(of: number) else { return nil }
        return exchange(&entries[place].memory, with: nil)
    }

    private func place(of number: Int) -> Int? { entries.firstIndex { $0.number == number } }
}
