import HeliographAPI

/// How a session got the size that a program asked for.
public struct ModeChange: Sendable {
    /// Why the device's monitor cannot take the size, so that pictures are scaled to it; `nil` if it took it.
    public let scalingReason: String?
}

extension Screen {
    /// Asks for pictures of another size, for all viewers of the session. Connections stay.
    ///
    ///     try await screen.requestMode(width: 1280, height: 720)
    ///
    /// The device's monitor takes the size if it can, as a headless output of sway does, and the session then follows
    /// the monitor. Otherwise pictures are scaled, which needs an operator's key.
    ///
    /// - Parameters:
    ///   - width: Pixels, 16 to 8192.
    ///   - height: Likewise.
    ///   - fps: Pictures per second, 1 to 240, which needs an operator's key; `nil` if they stay as many.
    @discardableResult
    public func requestMode(width: Int, height: Int, fps: Int? = nil) async throws(RelayError) -> ModeChange {
        var (change, reason): (SessionChange, String?) = (SessionChange(), nil)
        change.fps = fps
        do throws(RelayError) {
            try await resizeMonitor(width: width, height: height)
            (change.width, change.height) = (.becomes(nil), .becomes(nil))
        } catch {
            guard error.problem == .noInput else { throw error }
            (change.width, change.height, reason) = (.becomes(width), .becomes(height), error.description)
        }
        do throws(RelayError) {
            _ = try await relay.report(of: Routes.changeSession, change, at: place.session)
        } catch {
            // A controller may act on the monitor, but not change the session, which most often follows the monitor.
            guard reason == nil, fps == nil, error.problem == .forbiddenRole else { throw error }
        }
        return ModeChange(scalingReason: reason)
    }
}
