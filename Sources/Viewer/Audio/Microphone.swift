import CSDL
import HeliographClient
import Sound
import Synchronization

/// This machine's microphone on its way to that of a device. SDL's thread gives the samples.
final class Microphone: Sendable {
    /// The samples of a packet: 20 ms.
    private static let packet = 960
    private static let bitrate = 64_000
    /// The most packets that wait for the connection: 0.4 s. Later ones are left out.
    private static let mostPackets = 20

    private let packets: AsyncStream<[UInt8]>.Continuation
    private let encoder: Mutex<OpusEncoder>
    private let device = Atomic<UInt32>(0)

    /// Begins to speak. The caller must control the session's device.
    init(to live: LiveSession) throws(ViewerError) {
        do throws(OpusEncoder.Refusal) {
            encoder = Mutex(try OpusEncoder(channels: 1, bitrate: Self.bitrate))
        } catch {
            throw ViewerError(error.reason)
        }
        let (stream, continuation) = AsyncStream.makeStream(
            of: [UInt8].self,
            bufferingPolicy: .bufferingOldest(Self.mostPackets)
        )
        packets = continuation
        // Not on the main actor, which waits for SDL's events.
        Task.detached {
            for await packet in stream { try? await live.speak(packet) }
            // The end of the speech.
            try? await live.speak([])
        }
        do throws(ViewerError) {
            device.store(try opened(), ordering: .relaxed)
        } catch {
            packets.finish()
            throw error
        }
    }

    private func opened() throws(ViewerError) -> UInt32 {
        try SoundDevice.open(.records, channels: 1, samples: UInt16(Self.packet), owner: self) {
            microphone,
            bytes,
            count in
            guard let microphone, let bytes else { return }
            let values = UnsafeRawBufferPointer(start: bytes, count: Int(count)).bindMemory(to: Float.self)
            Unmanaged<Microphone>.fromOpaque(microphone).takeUnretainedValue().take(Array(values))
        }
    }

    private func take(_ values: [Float]) {
        guard values.count == Self.packet, let packet = encoder.withLock({ $0.encode(values) }) else { return }
        packets.yield(packet)
    }

    /// Ends the speech. It must be called before the last reference goes.
    func close() {
        SDL_CloseAudioDevice(device.exchange(0, ordering: .relaxed))
        packets.finish()
    }
}
