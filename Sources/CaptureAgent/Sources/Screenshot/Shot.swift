import Media

/// One screenshot.
struct Shot {
    let memory: ShotMemory
    /// When the screen looked like this, in monotonic ns.
    let captured: UInt64
    /// The pointer to draw over the pixels; `nil` if there is none or the pixels already contain it.
    var pointer: Pointer?
    /// Clockwise quarter turns, 0 to 3, that make the picture upright.
    var orientation: UInt8 = 0
    /// Whether a report ended the wait for a change, if there was one.
    var isReported = true
}

/// The reason why there is no shot.
enum ShotError: Error {
    /// The next shot may succeed. Cause and detail are as in ``SourceError``.
    case failed(cause: String, detail: String)
    /// No later shot can succeed.
    case sourceLost(SourceError)
}

/// When a backend must take a shot.
enum ShotMoment {
    case now
    /// As soon as the screen shows something else than in the last shot, unless the event is set before.
    ///
    /// A backend that hears of no changes takes it at once. The others do so after some time without a report, because
    /// a desktop that hangs has none either, and drivers may fail to report.
    case onceChanged(unless: Event)
}

/// A way to take shots of one screen, over a connection that stays open if there is one. Used in the source's thread.
protocol ScreenshotBackend: AnyObject {
    /// The source kind that the status shows.
    var kind: String { get }
    /// A descriptor that is readable when ``processEvents()`` has work; `nil` if nothing arrives unasked.
    var descriptor: Int32? { get }
    /// The rule for how soon after a shot the next one may be taken.
    var pace: ShotSchedule.Pace { get }

    /// Handles changes of the screen between shots.
    func processEvents() throws(SourceError)
    /// Takes a shot.
    ///
    /// - Returns: `nil` if `stop` is set before the shot is done, or the moment's event before the change.
    func take(_ moment: ShotMoment, stop: Event) throws(ShotError) -> Shot?
    /// Nobody wants shots for now.
    func rest()
    /// Ends the connection. Must be called once.
    func close()
}

extension ScreenshotBackend {
    func rest() {}
}

/// Makes frames only from shots that show something new, so a static screen produces no frames however often it is
/// captured.
struct ChangedShots {
    private var last: (memory: ShotMemory, frame: CapturedFrame)?
    /// Whether the last frame has other pixels than the one before, not only another pointer.
    private(set) var hasNewPixels = false

    /// Returns the frame of a shot, or `nil` if it shows the same as the last one.
    mutating func frame(of shot: Shot) -> CapturedFrame? {
        var frame: CapturedFrame
        if let last, last.memory.hasSamePixels(as: shot.memory) {
            guard last.frame.pointer != shot.pointer || last.frame.orientation != shot.orientation else { return nil }
            frame = last.frame
            (frame.captured, frame.pointer, frame.orientation) = (shot.captured, shot.pointer, shot.orientation)
            self.last = (last.memory, frame)
            hasNewPixels = false
        } else {
            frame = CapturedFrame(
                shot.memory.share(),
                captured: shot.captured,
                pointer: shot.pointer,
                orientation: shot.orientation
            )
            last = (shot.memory, frame)
            hasNewPixels = true
        }
        return frame
    }

    /// Whether the next shot produces a frame whatever it shows.
    var isEmpty: Bool { last == nil }

    /// Makes the next shot produce a frame whatever it shows.
    mutating func forget() { last = nil }
}
