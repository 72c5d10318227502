import CPipeWire

/// The buffers that PipeWire has given a stream, numbered, and the pixels that lease them.
struct PipeWireBuffers {
    private struct Entry {
        let number: Int
        let buffer: UnsafeMutablePointer<pw_buffer>
        /// Weak, because they give the buffer back when their last reference goes.
        weak var pixels: FramePixels?
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

    /// Removes a buffer; returns its number and the pixels that lease it.
    mutating func remove(_ buffer: UnsafeMutablePointer<pw_buffer>) -> (number: Int, pixels: FramePixels?)? {
        guard let number = number(of: buffer), let place = place(of: number) else { return nil }
        return (number, entries.remove(at: place).pixels)
    }

    func number(of buffer: UnsafeMutablePointer<pw_buffer>) -> Int? {
        buffer.pointee.user_data.map { Int(bitPattern: $0) - 1 }
    }

    func buffer(_ number: Int) -> UnsafeMutablePointer<pw_buffer>? {
        place(of: number).map { entries[$0].buffer }
    }

    /// The pixels in memory that lease a buffer.
    func pixels(_ number: Int) -> FramePixels? {
        place(of: number).flatMap { entries[$0].pixels }
    }

    mutating func setPixels(_ pixels: FramePixels?, of number: Int) {
        if let place = place(of: number) { entries[place].pixels = pixels }
    }

    private func place(of number: Int) -> Int? { entries.firstIndex { $0.number == number } }
}
