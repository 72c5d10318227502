import CSDL
import Sound
import Synchronization

/// A loudspeaker of this machine, which plays a session's sound as soon as it evenly can.
///
/// SDL's thread takes the samples.
final class Loudspeaker: Sendable {
    private struct State {
        var buffer = JitterBuffer(channels: channels)
        /// 0 to 1: what it plays with, and what it shall play with.
        var (gain, volume): (Float, Float) = (0, 1)
    }

    private static let channels = 2
    /// What SDL takes at once, in samples: 10 ms.
    private static let samples: UInt16 = 480
    /// How fast the volume changes, per sample: from silence to full in 5 ms.
    private static let step: Float = 1 / 240

    private let state = Mutex(State())
    private let device = Atomic<UInt32>(0)

    /// - Parameter name: One of ``names``; `nil` for the desktop's default.
    init(named name: String?, volume: Double) throws(ViewerError) {
        state.withLock { $0.volume = Float(volume) }
        let opened = try SoundDevice.open(
            .plays,
            named: name,
            channels: UInt8(Self.channels),
            samples: Self.samples,
            owner: self
        ) { loudspeaker, bytes, count in
            guard let loudspeaker, let bytes else { return }
            let values = UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)).bindMemory(to: Float.self)
            Unmanaged<Loudspeaker>.fromOpaque(loudspeaker).takeUnretainedValue().fill(values)
        }
        device.store(opened, ordering: .relaxed)
    }

    /// The loudspeakers of this machine.
    static var names: [String] {
        guard SDL_InitSubSystem(SDL_INIT_AUDIO) == 0 else { return [] }
        return (0..<max(0, SDL_GetNumAudioDevices(0))).compactMap { number in
            SDL_GetAudioDeviceName(number, 0).map { String(cString: $0) }
        }
    }

    /// How often sound came too late.
    var holes: Int { state.withLock { $0.buffer.holes } }

    /// The sound that waits, in ms.
    var delay: Int { state.withLock { $0.buffer.count / 48 } }

    /// Plays samples when those before are over.
    ///
    /// - Parameters:
    ///   - values: Left and right in turn.
    ///   - isEnd: Whether silence follows.
    func play(_ values: [Float], isEnd: Bool) {
        state.withLock { state in
            state.buffer.take(values)
            if isEnd { state.buffer.end() }
        }
    }

    /// Fades out, and forgets what waits.
    func silence() { state.withLock { $0.buffer.cut() } }

    func setVolume(_ volume: Double) { state.withLock { $0.volume = Float(volume) } }

    /// Stops. It must be called before the last reference goes.
    func close() { SDL_CloseAudioDevice(device.exchange(0, ordering: .relaxed)) }

    private func fill(_ values: UnsafeMutableBufferPointer<Float>) {
        state.withLock { state in
            let played = state.buffer.read(values.count / Self.channels)
            for index in values.indices {
                // Once for each sample, so that both channels are as loud.
                if index % Self.channels == 0 {
                    let difference = state.volume - state.gain
                    state.gain += min(max(difference, -Self.step), Self.step)
                }
                values[index] = played[index] * state.gain
            }
        }
    }
}
