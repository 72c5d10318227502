import CPipeWire

/// The buffers that PipeWire has given a stream, numbered, and the frames that lease them.
struct PipeWireBuffers {
    private struct Entry {
        let buffer: UnsafeMutablePointer<pw_buffer>
        /// Weak, because the frame gives the buffer back when its last reference goes.
        weak var frame: CapturedFrame?
    }

    private var entries: [Int: Entry] = [:]
    private var nextNumber = 0

    var count: Int { entries.count }

    mutating func add(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        entries[nextNumber] = Entry(buffer: buffer)
        // The number rides in the buffer, which has a field for its user. 0 means none, hence the one more.
        buffer.pointee.user_data = UnsafeMutableRawPointer(bitPattern: nextNumber + 1)
        nextNumber += 1
    }

    /// Removes a buffer; returns its number and the frame that leases it.
    mutating func remove(_ buffer: UnsafeMutablePointer<pw_buffer>) -> (number: Int, frame: CapturedFrame?)? {
        guard let number = number(of: buffer), let entry = entries.removeValue(forKey: number) else { return nil }
        return (number, entry.frame)
    }

    func number(of buffer: UnsafeMutablePointer<pw_buffer>) -> Int? {
        buffer.pointee.user_data.map { Int(bitPattern: $0) - 1 }
    }

    func buffer(_ number: Int) -> UnsafeMutablePointer<pw_buffer>? {
        entries[number]?.buffer
    }

    mutating func setFrame(_ frame: CapturedFrame?, of number: Int) {
        entries[number]?.frame = frame
    }
}
