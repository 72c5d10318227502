import Media

/// One picture of the screen.
struct Shot {
    let memory: ShotMemory
    /// When the screen looked so, monotonic ns.
    let captured: UInt64
    /// To be drawn over the pixels; nil when there is none, or it is in them already.
    var pointer: Pointer?
    /// Clockwise quarter turns, 0 to 3, that make the picture upright.
    var orientation: UInt8 = 0
}

/// Why there is no shot.
enum ShotError: Error {
    /// The next one may succeed. Cause and detail as in ``SourceError``.
    case failed(cause: String, detail: String)
    /// None will.
    case sourceLost(SourceError)
}

/// Takes shots of one screen, over a connection that stays open where there is one. Used in the source's thread.
protocol ScreenshotBackend: AnyObject {
    /// What it is called in the status.
    var kind: String { get }
    /// Readable when ``processEvents()`` has something to do; nil where nothing comes without being asked for.
    var descriptor: Int32? { get }
    /// What decides how soon after a shot the next one may be taken.
    var pace: ShotSchedule.Pace { get }

    /// Takes notice of what has become of the screen between shots.
    func processEvents() throws(SourceError)
    /// Takes a shot. Returns nil when `stop` is set before it is done.
    func take(stop: Event) throws(ShotError) -> Shot?
    /// Ends the connection. Called once.
    func close()
}

/// Makes frames of the shots that show something new: a screen that is static has no more of them, whoever looks at it how often.
struct ChangedShots {
    private var last: (memory: ShotMemory, frame: CapturedFrame)?

    /// The frame of a shot; nil where it shows what the last one did.
    mutating func frame(of shot: Shot) -> CapturedFrame? {
        var frame: CapturedFrame
        if let last, last.memory.hasSamePixels(as: shot.memory) {
            guard last.frame.pointer != shot.pointer || last.frame.orientation != shot.orientation else { return nil }
            frame = last.frame
            (frame.captured, frame.pointer, frame.orientation) = (shot.captured, shot.pointer, shot.orientation)
            self.last = (last.memory, frame)
        } else {
            frame = CapturedFrame(
                shot.memory.share(),
                captured: shot.captured,
                pointer: shot.pointer,
                orientation: shot.orientation
            )
            last = (shot.memory, frame)
        }
        return frame
    }

    /// The next shot makes a frame whatever it shows.
    mutating func forget() { last = nil }
}
