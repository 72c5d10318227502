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
}

extension RenditionViewer {
    var sound: SoundCodec? { format.carriesSound ? .opus : nil }
    var wantsSound: Bool { sound != nil }
    var counters: DeliveryCounters { queue.counters }
    var progress: ViewerProgress { ViewerProgress(queue, hasRoom: hasRoom) }
    /// Whether it has sent all units and needs a keyframe to continue.
    var starves: Bool { queue.starves && hasRoom }
}
