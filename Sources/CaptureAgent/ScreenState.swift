import Media
import Wire

/// The state of a ``Screen``, under its lock.
struct ScreenState {
    /// The sessions that are active.
    var sessions: [SessionPipeline] = []
    var dormant: [SessionID: DormantSession] = [:]
    var ending = EndingSessions()
    /// The newest frame. Sessions that are added to a static screen start from it.
    var newest: CapturedFrame?
    /// The pixel of the source's frames that the pointer is at; `nil` while the source does not say.
    var pointer: SIMD2<Int>?
    /// When the newest frame arrived, in monotonic ns.
    var arrival: UInt64 = 0
    /// The slate that sessions were last offered in place of the source's frames; `nil` once the source delivers again.
    var slate: CapturedFrame?
    var status = SourceStatus(state: .opening)
    /// When the source stopped delivering, in monotonic ns; `nil` while it delivers.
    var lostSince: UInt64? = MonotonicClock.now
    var encoders: [EncoderReport] = []
    var link: RelayLink?
    var snapshots: SnapshotDesk?
    var watches: WatchDesk?
    var inputs: InputDesk?
    /// Whether the screen still shows the newest frame, according to the source.
    var newestIsCurrent = false
    /// The size that the source's own monitor should have; `nil` for the one that it was made with.
    var monitor: PictureSize?
    var framesReceived: UInt64 = 0
    var buffersSkipped: UInt64 = 0
    var framesCopied: UInt64 = 0

    /// Returns the parameters of a session, active or not.
    func parameters(of id: SessionID) -> SessionParameters? {
        sessions.first { $0.id == id }?.parameters ?? dormant[id]?.parameters
    }

    /// Reports the frame's size and orientation if they have changed.
    mutating func follow(_ frame: CapturedFrame) {
        let (size, orientation) = (frame.description.size, frame.orientation)
        guard status.state == .streaming, status.size != size || status.orientation != orientation else { return }
        status.size = size
        status.orientation = orientation
        link?.send(.status(status))
    }
}
