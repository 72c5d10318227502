/// One consumer of a session.
@MediaLoop
protocol Viewer: AnyObject {
    var queue: ViewerQueue { get }
    /// The container that it watches in, nil for the bare stream.
    var container: Container? { get }
    /// Whether its connection takes more than it was handed.
    var hasRoom: Bool { get }
    /// Whether it has sent all that it had and can continue only with a keyframe: the moment to ask for one.
    var starves: Bool { get }
    /// Takes the picture over, or drops it by the queue's rules.
    func offer(_ picture: Picture)
    /// What tells whether it keeps up.
    var progress: ViewerProgress { get }
    /// Bytes that its connection was handed and has not taken, as far as is known.
    var underWay: Int { get }
    /// Ends the stream in good order.
    func finish()
    /// Closes the connection without waiting for what it takes.
    func close(because reason: ViewerClosure)
}

extension Viewer {
    var container: Container? { nil }
    var starves: Bool { queue.starves && hasRoom }
    var progress: ViewerProgress { ViewerProgress(queue, hasRoom: hasRoom) }
}
