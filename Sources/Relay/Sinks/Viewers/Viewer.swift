import Media
import NIOCore

/// A consumer of a session with a connection of its own, which may be slow.
@MediaLoop
protocol Viewer: AnyObject {
    /// The units that it got and lost.
    var counters: DeliveryCounters { get }
    /// Shows whether it keeps up.
    var progress: ViewerProgress { get }
    /// Bytes that were handed to its connection and not taken yet, if known.
    var underWay: Int { get }
    /// Decides anew how much it may be sent, and sends or drops what waits for it; `nil` if it never says what arrives.
    ///
    /// - Parameters:
    ///   - limits: The least and the most, bit/s.
    ///   - layers: The session's layers; `nil` if it has only one.
    func followRate(
        within limits: ClosedRange<Double>,
        layers: LayerChoice.Bitrates?,
        now: NIODeadline
    ) -> FollowedViewer.Vote?
    /// Called when the session's bitrate follows nobody any more.
    func beFixed()
    /// Whether it should watch the session's layer of smaller pictures.
    var wantsSmall: Bool { get }
    /// Records that it watches the whole layer, because there is no other.
    func becomeWhole()
    /// Whether it has joined a session, of which it may watch another layer.
    func belongs(to session: Session) -> Bool
    /// Ends the stream cleanly.
    func finish()
    /// Closes the connection without waiting for pending bytes.
    func close(because reason: ViewerClosure)
}

extension Viewer {
    func followRate(
        within limits: ClosedRange<Double>,
        layers: LayerChoice.Bitrates?,
        now: NIODeadline
    ) -> FollowedViewer.Vote? { nil }
    func beFixed() {}
    var wantsSmall: Bool { false }
    func becomeWhole() {}
    func belongs(to session: Session) -> Bool { false }
}

/// A viewer that gets every unit of a rendition while it keeps up.
@MediaLoop
protocol RenditionViewer: Viewer {
    /// The format that it watches.
    var format: StreamFormat { get }
    /// The codec in which it can get the device's sound besides the pictures; `nil` if it cannot.
    var sound: SoundCodec? { get }
    /// Whether it wants the sound now.
    var wantsSound: Bool { get }
    var queue: ViewerQueue { get }
    /// Whether its connection takes more bytes.
    var hasRoom: Bool { get }
    /// Queues the unit, or drops it by the queue's rules.
    func offer(_ unit: RenderedUnit)
    /// Records that the rendition lacks a unit.
    func miss()
    /// Goes on with the pictures of another layer of its session, from a keyframe on. What waits is dropped.
    func watch(_ layer: Session)
}

extension RenditionViewer {
    var sound: SoundCodec? { format.carriesSound ? .opus : nil }
    var wantsSound: Bool { sound != nil }
    var counters: DeliveryCounters { queue.counters }
    var progress: ViewerProgress { ViewerProgress(queue, hasRoom: hasRoom) }
    /// Whether it has sent all units and needs a keyframe to continue.
    var starves: Bool { queue.starves && hasRoom }
    func watch(_ layer: Session) {}
}
