import HeliographAPI

/// How the recording of a session into the relay's library is getting on.
public struct RecordingState: Sendable {
    /// The recording's id, which its items have, too: see ``RelayLibrary/Search/recording``. `nil` until the library is
    /// open, and if nothing is recorded.
    public let id: String?
    /// Whether pictures are written. Before, the recording waits for a keyframe, or for what the session's settings
    /// say.
    public let isWriting: Bool
    /// Why nothing can be written, and what to do; `nil` if something can.
    public let problem: String?

    init(_ report: RecordingReport?) {
        (id, problem) = (report?.recording, report?.problem)
        isWriting = report?.state == RecordingReport.State.recording.rawValue
    }
}

extension Screen {
    /// Records the session into the relay's library, until ``stopRecording()`` or its end. A device's own session is
    /// started if it does not run.
    ///
    /// The recording begins with the next keyframe, which the relay asks for. It goes on after a restart of the relay.
    /// A device's own session that would end when nobody uses it no longer does, not even after the recording.
    ///
    /// - Throws: ``RelayError``: its code is `library_unavailable` if the relay has no library, or cannot use it.
    @discardableResult
    public func startRecording() async throws(RelayError) -> RecordingState {
        RecordingState(try await recording(Routes.startRecording, Routes.startDeviceRecording).recording)
    }

    /// Ends the recording. Its item is complete when this returns.
    public func stopRecording() async throws(RelayError) {
        _ = try await recording(Routes.stopRecording, Routes.stopDeviceRecording)
    }

    private func recording(
        _ ofSession: Call<NoArguments, SessionReport>,
        _ ofDevice: Call<NoArguments, SessionReport>
    ) async throws(RelayError) -> SessionReport {
        switch place.session {
        case .shared(let device): try await relay.report(of: ofDevice, at: CallPlace.device(device))
        case .id, .named: try await relay.report(of: ofSession, at: place.session)
        }
    }
}
