import CWayland
import Media
import Wire

/// Screenshots from a wlroots-based compositor through zwlr_screencopy_manager_v1: it copies its next picture into our
/// memory.
final class ScreencopyBackend: ScreenshotBackend {
    let kind = "wlr-screencopy"
    let pace = ShotSchedule.Pace.refresh

    /// How long the compositor may take for a shot, in ns. It waits for the screen's next refresh.
    private static let shotTimeout: UInt64 = .milliseconds(2_000)
    /// The longest wait for a change, in ns.
    private static let longestRest: UInt64 = .milliseconds(3_000)

    private let connection: WaylandConnection
    private let manager: OpaquePointer
    private let output: WaylandOutput
    private let withCursor: Bool
    private var pool: ShotPool<OpaquePointer>
    /// Whether the last wait for a change was given up. The compositor may have reported one meanwhile, which it does
    /// once.
    private var gaveUp = false

    /// Returns whether the compositor of WAYLAND_DISPLAY gives screenshots.
    static func isAvailable() throws(SourceError) -> Bool {
        let connection = try WaylandConnection()
        defer { connection.close() }
        return connection.screencopyManager != nil
    }

    /// - Parameter output: The monitor's name; `nil` for the first one.
    convenience init(output: String?, cursor: CursorDrawing) throws(SourceError) {
        try self.init(cursor: cursor) { outputs throws(SourceError) in
            guard let wanted = output else {
                guard let first = outputs.first else {
                    throw .unavailable(cause: "output_unknown", detail: "The compositor has no monitor.")
                }
                return first
            }
            guard let found = outputs.first(where: { $0.name == wanted }) else {
                let names = outputs.compactMap(\.name).joined(separator: ", ")
                let detail = "The compositor has no monitor \(wanted); it has: \(names)."
                throw .unavailable(cause: "output_unknown", detail: detail)
            }
            return found
        }
    }

    /// - Parameter choose: Selects one of the outputs.
    init(
        cursor: CursorDrawing,
        choose: ([WaylandOutput]) throws(SourceError) -> WaylandOutput
    ) throws(SourceError) {
        let connection = try WaylandConnection()
        do throws(SourceError) {
            guard let manager = connection.screencopyManager, let sharedMemory = connection.sharedMemory else {
                throw .unavailable(
                    cause: "screencopy_unavailable",
                    detail: "The Wayland compositor has no zwlr_screencopy_manager_v1, as those of wlroots have. "
                        + "Use the portal, or a command for screenshots."
                )
            }
            output = try choose(connection.outputs)
            self.manager = manager
            pool = ShotPool(
                attach: { memory throws(ShotError) in try Self.wrap(memory, sharedMemory) },
                detach: { wl_buffer_destroy($0) }
            )
        } catch {
            connection.close()
            throw error
        }
        self.connection = connection
        withCursor = cursor == .embedded
    }

    /// The output as it is now; `nil` if it was removed.
    private var current: WaylandOutput? { connection.outputs.first { $0.global == output.global } }

    var descriptor: Int32? { connection.descriptor }

    func processEvents() throws(SourceError) {
        try connection.processEvents()
        try checkOutput()
    }

    func take(_ moment: ShotMoment, stop: Event) throws(ShotError) -> Shot? {
        var isReported = true
        if case .onceChanged(let other) = moment, connection.reportsChanges, !gaveUp {
            let deadline = MonotonicClock.now + Self.longestRest
            if let shot = try take(onceChanged: true, until: deadline, or: [stop, other]) { return shot }
            gaveUp = stop.isSet || other.isSet
            if gaveUp { return nil }
            isReported = MonotonicClock.now < deadline
        }
        gaveUp = false
        let deadline = MonotonicClock.now + Self.shotTimeout
        repeat {
            if var shot = try take(onceChanged: false, until: deadline, or: [stop]) {
                shot.isReported = isReported
                return shot
            }
            if stop.isSet { return nil }
        } while MonotonicClock.now < deadline
        throw .failed(
            cause: "screenshot_timeout",
            detail: "The Wayland compositor does not copy its screen. Is it switched off?"
        )
    }

    func close() {
        pool.removeAll()
        connection.close()
    }

    // MARK: - Private

    /// - Returns: `nil` if the deadline is reached, or one of `events` is set, before there is a shot; or if the
    ///   monitor has got another size meanwhile.
    private func take(
        onceChanged: Bool,
        until deadline: UInt64,
        or events: [Event]
    ) throws(ShotError) -> Shot? {
        let (progress, size) = (ScreencopyProgress(), current?.size)
        guard let frame = cwayland_screencopy_capture(manager, withCursor ? 1 : 0, output.proxy) else {
            throw Self.failed("no memory")
        }
        defer {
            cwayland_screencopy_frame_destroy(frame)
            connection.flush()
        }
        cwayland_screencopy_frame_add_listener(frame, screencopyEvents, Unmanaged.passUnretained(progress).toOpaque())
        guard
            try handleEvents(until: deadline, or: events, { progress.hasEnded || progress.description != nil })
        else { return nil }
        guard let description = progress.description else { throw Self.failed("it refused, or has an unusual format") }
        let (memory, buffer) = try pool.take(description)
        if onceChanged {
            cwayland_screencopy_copy_with_damage(frame, buffer)
        } else {
            cwayland_screencopy_copy(frame, buffer)
        }
        guard try handleEvents(until: deadline, or: events, { progress.hasEnded }) else { return nil }
        // The copy has the size for which it was asked.
        guard current?.size == size else { return nil }
        guard let captured = progress.captured else { throw Self.failed("it refused") }
        if progress.isTurnedOver { memory.turnOver() }
        // The copy has the orientation in which the picture is sent to the monitor.
        return Shot(
            memory: memory,
            captured: CaptureTime.of(stamp: captured, arrival: MonotonicClock.now),
            orientation: current?.orientation ?? 0
        )
    }

    /// Handles events.
    ///
    /// - Returns: `false` if the deadline was reached, or one of `events` set, first.
    private func handleEvents(
        until deadline: UInt64,
        or events: [Event],
        _ isDone: () -> Bool
    ) throws(ShotError) -> Bool {
        do throws(SourceError) {
            let isDone = try connection.handleEvents(until: deadline, or: events, isDone)
            try checkOutput()
            return isDone
        } catch {
            throw .sourceLost(error)
        }
    }

    private func checkOutput() throws(SourceError) {
        guard current == nil else { return }
        throw .lost(cause: "output_gone", detail: "The monitor \(output.name ?? "that is captured") was removed.")
    }

    private static func failed(_ reason: String) -> ShotError {
        .failed(
            cause: "screenshot_failed",
            detail: "The Wayland compositor does not copy its screen (\(reason)). Is it switched off?"
        )
    }

    private static func wrap(_ memory: ShotMemory, _ sharedMemory: OpaquePointer) throws(ShotError) -> OpaquePointer {
        guard let wlPool = wl_shm_create_pool(sharedMemory, memory.descriptor, Int32(memory.byteCount)) else {
            throw failed("no memory")
        }
        defer { wl_shm_pool_destroy(wlPool) }
        let description = memory.description
        let buffer = wl_shm_pool_create_buffer(
            wlPool,
            0,
            Int32(description.size.width),
            Int32(description.size.height),
            Int32(description.stride),
            ScreencopyProgress.code(of: description.format)
        )
        guard let buffer else { throw failed("no memory") }
        return buffer
    }
}
