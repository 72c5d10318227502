import CPipeWire

/// Turns a stream's buffers into frames: the newest picture, and the pointer if the producer reports it separately.
///
/// The newest buffer is lent to the frame that is delivered; older ones are returned at once. Used in PipeWire's thread
/// or under the connection's lock.
struct PipeWireFrameReader {
    private let sink: any FrameSink
    private let lender: BufferLender
    private var buffers = PipeWireBuffers()
    private var format: PipeWireFormat?
    /// The pointer; `nil` if it stays hidden.
    private var pointer: PipeWirePointer?
    /// The newest picture, for frames in which only the pointer moves.
    private var newest: (contents: FrameContents, origin: (x: Int, y: Int), orientation: UInt8)?

    /// - Parameter wake: Asks PipeWire's thread to call ``collectReturned(_:)``; may be called in any thread.
    init(sink: any FrameSink, drawsPointer: Bool, wake: @escaping @Sendable () -> Void) {
        self.sink = sink
        lender = BufferLender(wake: wake)
        pointer = drawsPointer ? PipeWirePointer() : nil
        // Nothing is known of it before the first buffer.
        sink.pointerMoved(to: nil)
    }

    mutating func formatChanged(to format: PipeWireFormat) {
        self.format = format
        newest = nil
    }

    mutating func bufferAdded(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        buffers.add(buffer)
        lender.setTotal(buffers.count)
    }

    mutating func bufferRemoved(_ buffer: UnsafeMutablePointer<pw_buffer>) {
        guard let removed = buffers.remove(buffer) else { return }
        let isLent = lender.forget(removed.number)
        lender.setTotal(buffers.count)
        if isLent { removed.memory?.detach() }
    }

    /// Queues the buffers that frames have given back.
    ///
    /// - Returns: The number of buffers.
    @discardableResult
    mutating func collectReturned(_ stream: OpaquePointer) -> Int {
        var count = 0
        lender.collect { number in
            guard let buffer = buffers.buffer(number) else { return }
            pw_stream_queue_buffer(stream, buffer)
            count += 1
        }
        return count
    }

    /// Gives all buffers back; frames keep copies of their pixels. Each buffer leaves with one of the producer's next
    /// pictures.
    ///
    /// - Returns: The number of buffers.
    mutating func returnAll(_ stream: OpaquePointer) -> Int {
        newest = nil
        let returned = collectReturned(stream)
        let lent = lender.lent
        for number in lent {
            buffers.takeMemory(number)?.detach()
            lender.forget(number)
            if let buffer = buffers.buffer(number) { pw_stream_queue_buffer(stream, buffer) }
        }
        return returned + lent.count
    }

    /// Gives the buffers that the producer has queued back without reading them.
    func discard(_ stream: OpaquePointer) {
        while let buffer = pw_stream_dequeue_buffer(stream) { pw_stream_queue_buffer(stream, buffer) }
    }

    /// Reads the buffers that the producer has queued and delivers the resulting frame.
    ///
    /// - Returns: Whether there was a picture among them.
    mutating func process(_ stream: OpaquePointer) -> Bool {
        collectReturned(stream)
        let pointerBefore = pointer?.current
        var captured = MonotonicClock.now
        var picture: (buffer: UnsafeMutablePointer<pw_buffer>, contents: PipeWirePicture)?
        while let buffer = pw_stream_dequeue_buffer(stream) {
            let contents = read(buffer, captured: &captured)
            guard let contents else {
                pw_stream_queue_buffer(stream, buffer)
                continue
            }
            if let displaced = picture { pw_stream_queue_buffer(stream, displaced.buffer) }
            picture = (buffer, contents)
        }
        if let picture {
            newest = take(picture.contents, of: picture.buffer, stream).map {
                ($0, picture.contents.origin, picture.contents.orientation)
            }
        } else if pointer?.current == pointerBefore {
            return false
        }
        if let newest {
            let frame = CapturedFrame(
                newest.contents,
                captured: captured,
                pointer: pointer?.current,
                orientation: newest.orientation
            )
            sink.receive(frame)
        }
        return picture != nil
    }

    /// Reads the pointer, and returns the picture if the buffer has one.
    private mutating func read(
        _ buffer: UnsafeMutablePointer<pw_buffer>,
        captured: inout UInt64
    ) -> PipeWirePicture? {
        guard let format, let contents = buffer.pointee.buffer else {
            sink.skippedBuffer()
            return nil
        }
        captured = CaptureTime.of(stamp: PipeWirePicture.header(of: contents)?.pts, arrival: MonotonicClock.now)
        let picture = PipeWirePicture(contents, format: format)
        let (pointerBefore, placeBefore) = (pointer?.current, pointer?.place)
        pointer?.read(contents, origin: picture?.origin ?? newest?.origin ?? (0, 0))
        if pointer?.place != placeBefore { sink.pointerMoved(to: pointer?.place) }
        if picture == nil, pointer?.current == pointerBefore { sink.skippedBuffer() }
        return picture
    }

    /// Returns the picture's contents: lent if the producer has buffers to spare, otherwise copied.
    ///
    /// A DMA-BUF cannot be copied, so it is always lent; returns `nil` if that fails.
    private mutating func take(
        _ picture: PipeWirePicture,
        of buffer: UnsafeMutablePointer<pw_buffer>,
        _ stream: OpaquePointer
    ) -> FrameContents? {
        if !lender.canLend, let pixels = picture.copied() {
            pw_stream_queue_buffer(stream, buffer)
            sink.copiedFrame()
            return .memory(pixels)
        }
        guard let number = buffers.number(of: buffer),
            let contents = picture.leased(
                lender.lend(number),
                memory: { buffers.memory(number, at: $0, byteCount: $1) }
            )
        else {
            sink.skippedBuffer()
            return nil
        }
        return contents
    }
}
