import Media
import Wire

/// What a ``Screen`` knows, under its lock.
struct ScreenState {
    /// Those that are active.
    var sessions: [SessionPipeline] = []
    var dormant: [SessionID: DormantSession] = [:]
    var ending = EndingSessions()
    /// Sessions that are added to a static screen start from it.
    var newest: CapturedFrame?
    /// Of the newest frame, monotonic ns.
    var arrival: UInt64 = 0
    /// What sessions were last offered in place of the source's frames; nil once it delivers again.
    var slate: CapturedFrame?
    var status = SourceStatus(state: .opening)
    /// Since when the source does not deliver; nil while it does. Monotonic ns.
    var lostSince: UInt64? = MonotonicClock.now
    var encoders: [EncoderReport] = []
    var link: RelayLink?
    var snapshots: SnapshotDesk?
    var framesReceived: UInt64 = 0
    var buffersSkipped: UInt64 = 0
    var framesCopied: UInt64 = 0

    /// Of a session, active or not.
    func parameters(of id: SessionID) -> SessionParameters? {
        sessions.first { $0.id == id }?.parameters ?? dormant[id]?.parameters
    }

    /// Reports the picture's size and orientation where they are new.
    mutating func follow(_ frame: CapturedFrame) {
        let (size, orientation) = (frame.description.size, frame.orientation)
        guard status.state == .streaming, status.size != size || status.orientation != orientation else { return }
        status.size = size
        status.orientation = orientation
        link?.send(.status(status))
    }
}
