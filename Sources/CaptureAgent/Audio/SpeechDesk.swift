import Sound
import Synchronization
package import Wire

/// The device's microphone, and the speech that callers send to it. Its thread keeps the microphone there.
package final class SpeechDesk: Sendable {
    private struct State: Sendable {
        var buffer = JitterBuffer(channels: 1)
        /// Whether a program records.
        var isRecorded = false
        var report: (@Sendable (SpeechReport) -> Void)?
        /// When the next report is due, ns.
        var reportDue: UInt64 = 0
        var isAvailable = false

        /// Returns the report that is due.
        mutating func dueReport(now: UInt64) -> (SpeechReport, to: @Sendable (SpeechReport) -> Void)? {
            guard let report, now >= reportDue else { return nil }
            reportDue = now + SpeechDesk.reportInterval
            let delay = isRecorded ? buffer.count * 1000 / SoundSamples.rate : nil
            return (SpeechReport(delay: delay, holes: buffer.holes), report)
        }
    }

    /// Between two reports while a caller speaks, in ns.
    private static let reportInterval: UInt64 = .milliseconds(1_000)
    /// The pauses between attempts to make the microphone, and how long one must have lasted for the shortest, in ns.
    private static let (firstPause, longestPause) = (UInt64.milliseconds(100), UInt64.milliseconds(1_000))
    private static let healthy = UInt64.milliseconds(5_000)

    private let name: String
    private let state = Mutex(State())
    /// Used by the link's thread alone; locked before `state`, never after it.
    private let decoder = Mutex<OpusDecoder?>(nil)

    /// - Parameter device: The device's name.
    package init(device: String) { name = "heliograph-microphone-\(device)" }

    /// Whether there is a microphone now.
    package var isAvailable: Bool { state.withLock { $0.isAvailable } }

    // MARK: The link's side

    /// Begins with a link.
    ///
    /// - Parameter report: Receives reports for the relay.
    package func attach(_ report: @escaping @Sendable (SpeechReport) -> Void) {
        state.withLock { $0.report = report }
    }

    /// Ends with the link, and with it the speaker.
    package func detach() {
        take([])
        state.withLock { $0.report = nil }
    }

    /// Takes an Opus packet of speech; an empty one when the speaker has ended.
    package func take(_ packet: [UInt8]) {
        guard !packet.isEmpty else {
            decoder.withLock { $0?.reset() }
            return state.withLock { $0.buffer.end() }
        }
        let samples = decoder.withLock { decoder in
            decoder = decoder ?? OpusDecoder(channels: 1)
            return decoder?.decode(packet)
        }
        guard let samples else { return }
        let now = MonotonicClock.now
        let due = state.withLock { state in
            if state.isRecorded { state.buffer.take(samples) }
            return state.dueReport(now: now)
        }
        // Outside the lock, because PipeWire's thread for data waits for that.
        if let due { due.to(due.0) }
    }

    // MARK: The microphone's side

    /// Returns the next samples for the programs that record.
    private func read(_ count: Int) -> [Float] { state.withLock { $0.buffer.read(count) } }

    private func recordingChanged(_ isRecorded: Bool) {
        state.withLock { state in
            state.isRecorded = isRecorded
            state.buffer.clear()
        }
    }

    /// Keeps the microphone there until `stop` is set.
    ///
    /// - Parameter changed: Hears when ``isAvailable`` has changed.
    package func run(stop: Event, changed: () -> Void) {
        var pause = Self.firstPause
        while !stop.isSet {
            let begin = MonotonicClock.now
            do throws(SourceError) {
                let microphone = try VirtualMicrophone(
                    named: name,
                    read: { [self] in read($0) },
                    recorded: { [self] in recordingChanged($0) }
                )
                show(true, changed)
                _ = Event.wait(forAnyOf: [stop, microphone.ended], until: nil)
                microphone.remove()
                recordingChanged(false)
                show(false, changed)
            } catch {
                // The relay tells callers that there is no microphone, and `heliograph doctor` what PipeWire lacks.
            }
            if MonotonicClock.now - begin >= Self.healthy { pause = Self.firstPause }
            _ = stop.wait(until: MonotonicClock.now + pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    private func show(_ isAvailable: Bool, _ changed: () -> Void) {
        state.withLock { $0.isAvailable = isAvailable }
        changed()
    }
}
