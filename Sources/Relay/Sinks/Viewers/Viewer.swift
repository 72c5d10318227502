/// A consumer of a session with a connection of its own, which may be slow.
@MediaLoop
protocol Viewer: AnyObject {
    /// What it has been given, and lost.
    var counters: DeliveryCounters { get }
    /// What tells whether it keeps up.
    var progress: ViewerProgress { get }
    /// Bytes that its connection was handed and has not taken, as far as is known.
    var underWay: Int { get }
    /// Ends the stream in good order.
    func finish()
    /// Closes the connection without waiting for what it takes.
    func close(because reason: ViewerClosure)
}

/// A viewer that gets every unit of a rendition, as long as it keeps up.
@MediaLoop
protocol RenditionViewer: Viewer {
    /// What it watches.
    var format: StreamFormat { get }
    /// Whether it wants the device's sound beside the pictures.
    var wantsSound: Bool { get }
    var queue: ViewerQueue { get }
    /// Whether its connection takes more than it was handed.
    var hasRoom: Bool { get }
    /// Takes the unit over, or drops it by the queue's rules.
    func offer(_ unit: RenderedUnit)
    /// Takes note that the rendition has not got a unit.
    func miss()
}

extension RenditionViewer {
    var wantsSound: Bool { format.carriesSound }
    var counters: DeliveryCounters { queue.counters }
    var progress: ViewerProgress { ViewerProgress(queue, hasRoom: hasRoom) }
    /// Whether it has sent all that it had and needs a keyframe to continue.
    var starves: Bool { queue.starves && hasRoom }
}
