import CXCB
import Glibc
import Media
import Wire

/// Screenshots from an X server through MIT-SHM: it copies its screen into our memory.
final class X11Backend: ScreenshotBackend {
    let kind = "x11"
    let pace = ShotSchedule.Pace.clock

    /// The longest wait for a change, in ns. A program can move the pointer without a report.
    private static let longestRest: UInt64 = .milliseconds(1_000)
    /// How long a program may take to draw what has begun to change, in ns.
    private static let drawingTime: UInt64 = .milliseconds(4)

    private let connection: X11Connection
    private let screen: X11Screen
    private var pointer: X11Pointer?
    private var changes: X11Changes?
    /// Whether the server has reported a change since the last shot.
    private var hasChanged = false
    private var pool: ShotPool<xcb_shm_seg_t>

    /// - Parameter output: The monitor's name; `nil` for the whole screen.
    init(output: String?, cursor: CursorDrawing) throws(SourceError) {
        let connection = try X11Connection()
        do throws(SourceError) {
            try Self.requireSharedMemory(connection)
            screen = try X11Screen(connection, output: output)
            pointer = cursor == .embedded ? try X11Pointer(connection) : nil
            changes = try X11Changes(connection, ofPointer: pointer != nil)
        } catch {
            connection.close()
            throw error
        }
        self.connection = connection
        pool = ShotPool(
            attach: { memory throws(ShotError) in try Self.attach(memory, connection) },
            detach: { segment in xcb_shm_detach(connection.handle, segment) }
        )
    }

    var descriptor: Int32? { connection.descriptor }

    func processEvents() throws(SourceError) {
        if try connection.processEvents() { hasChanged = true }
    }

    func take(_ moment: ShotMoment, stop: Event) throws(ShotError) -> Shot? {
        changes?.watchPointer(true)
        var isReported = true
        if case .onceChanged(let other) = moment, changes != nil {
            let isWanted = try lossy { () throws(SourceError) in try waitForChange(or: [stop, other]) }
            guard isWanted else { return nil }
            isReported = hasChanged
        }
        // Asked for each time, because a screen can change its size at any time.
        let area = try lossy { () throws(SourceError) in
            try connection.processEvents()
            changes?.forget()
            hasChanged = false
            return try screen.area(stop: stop)
        }
        var isDone = false
        // No shot shows the reported change yet.
        defer { if !isDone { hasChanged = true } }
        guard let area else { return try nothing(stop, "it does not tell its screen's size") }
        let description = FrameDescription(
            size: area.size,
            stride: area.size.width * PixelFormat.bytesPerPixel,
            format: connection.format
        )
        let (memory, segment) = try pool.take(description)
        let request = xcb_shm_get_image(
            connection.handle,
            connection.root,
            Int16(area.x),
            Int16(area.y),
            UInt16(area.size.width),
            UInt16(area.size.height),
            .max,
            UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue),
            segment,
            0
        )
        pointer?.ask()
        let (image, position) = try lossy { () throws(SourceError) in
            let image: X11Answer<xcb_shm_get_image_reply_t>? = try connection.answer(to: request.sequence, stop: stop)
            return (image, try pointer?.answer(stop: stop))
        }
        guard image != nil else { return try nothing(stop, "it refuses") }
        isDone = true
        return Shot(
            memory: memory,
            captured: MonotonicClock.now,
            pointer: position?.moved(by: area),
            isReported: isReported
        )
    }

    func rest() { changes?.watchPointer(false) }

    func close() {
        connection.close()
    }

    // MARK: - Private

    /// Waits until the screen has changed, but not for ever.
    ///
    /// - Returns: `false` if one of `events` is set first.
    private func waitForChange(or events: [Event]) throws(SourceError) -> Bool {
        let interests = ([connection.descriptor] + events.map(\.descriptor)).map { Poll.Interest($0) }
        let end = MonotonicClock.now + Self.longestRest
        if hasChanged { return true }
        while true {
            try processEvents()
            if hasChanged {
                MonotonicClock.sleep(Self.drawingTime)
                return true
            }
            let now = MonotonicClock.now
            guard now < end else { return true }
            if Poll.wait(for: interests, timeout: end - now).dropFirst().contains(true) { return false }
        }
    }

    private func lossy<Value>(_ body: () throws(SourceError) -> Value) throws(ShotError) -> Value {
        do throws(SourceError) {
            return try body()
        } catch {
            throw .sourceLost(error)
        }
    }

    /// Returns `nil` if `stop` is set, otherwise throws with `reason`.
    private func nothing(_ stop: Event, _ reason: String) throws(ShotError) -> Shot? {
        if stop.isSet { return nil }
        throw .failed(cause: "screenshot_failed", detail: "The X server does not copy its screen (\(reason)).")
    }

    private static func requireSharedMemory(_ connection: X11Connection) throws(SourceError) {
        if try connection.has("MIT-SHM") {
            let request = xcb_shm_query_version(connection.handle)
            let version: X11Answer<xcb_shm_query_version_reply_t>? =
                try connection.answer(to: request.sequence, stop: nil)
            if let version = version?.pointee, (version.major_version, version.minor_version) >= (1, 2) { return }
        }
        throw .unavailable(
            cause: "x11_unavailable",
            detail:
                "The X server shares no memory (MIT-SHM 1.2). It may be on another machine: run the agent there."
        )
    }

    private static func attach(_ memory: ShotMemory, _ connection: X11Connection) throws(ShotError) -> xcb_shm_seg_t {
        // Closed once it has been sent.
        let descriptor = fcntl(memory.descriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            throw .failed(cause: "screenshot_memory", detail: "No file descriptor is left for a picture.")
        }
        let segment = xcb_generate_id(connection.handle)
        // If the server rejects the memory, the error shows when it is asked to write there.
        xcb_shm_attach_fd(connection.handle, segment, descriptor, 0)
        return segment
    }
}
