/// Makes frames of the shots that show something new: a screen that stands still has no more of them, whoever looks at it how often.
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
