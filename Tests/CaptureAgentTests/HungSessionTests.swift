import CaptureAgent
import Media
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("A session whose encoder hangs")
struct HungSessionTests {
    private static let size = PictureSize(width: 320, height: 240)

    @Test(
        "is ended without anybody waiting for it, another of its id waits for its end, and it is known to hang 10 s later"
    )
    func isEnded() async throws {
        let gate = try Gate()
        let catalogue = EncoderCatalogue(entries: [HangingEncoder.entry(gate)])
        let screen = Screen()
        let recorder = SessionRecorder()
        let parameters = SessionParameters(
            codec: .h264,
            encoder: "hanging",
            size: RequestedSize(),
            fps: 30,
            bitrate: 1_000_000,
            repeat: true,
            keyframeInterval: 60_000,
            epoch: MonotonicClock.now,
            isActive: true
        )
        screen.sourceChanged(SourceStatus(state: .streaming))
        screen.receive(TestPatternSource.frame(number: 1, size: Self.size, captured: MonotonicClock.now))
        screen.addSession(1, parameters, catalogue: catalogue, output: recorder)
        _ = try await eventually("a picture that hangs") { gate.hanging == 1 ? true : nil }
        let told = MonotonicClock.now
        screen.removeSession(1)
        #expect(gate.hanging == 1, "it hangs still")
        #expect(screen.hungSession(now: told + .milliseconds(9_999)) == nil)
        #expect(screen.hungSession(now: MonotonicClock.now + .milliseconds(10_000)) == 1)
        screen.addSession(1, parameters, catalogue: catalogue, output: recorder)
        #expect(recorder.units.isEmpty)
        gate.open.set()
        try await recorder.wait("the next session's pictures") { $0.count { $0.flags.contains(.key) } >= 2 }
        #expect(screen.hungSession(now: MonotonicClock.now + .milliseconds(10_000)) == nil)
        screen.removeSession(1)
        let units = recorder.units
        #expect(zip(units, units.dropFirst()).allSatisfy { $0.pts < $1.pts || $1.flags.contains(.key) })
    }
}

/// Holds pictures back until it is opened, or for longer than any test takes.
private final class Gate: Sendable {
    let open: Event
    private let count = Mutex(0)

    init() throws { open = try Event() }

    /// The number of pictures that wait now.
    var hanging: Int { count.withLock { $0 } }

    func pass() {
        count.withLock { $0 += 1 }
        _ = open.wait(until: MonotonicClock.now + 600_000_000_000)
        count.withLock { $0 -= 1 }
    }
}

/// x264 with a gate before each picture.
private final class HangingEncoder: VideoEncoder {
    static func entry(_ gate: Gate) -> EncoderEntry {
        EncoderEntry(name: "hanging", codec: .h264, kind: .software) { settings throws(EncoderError) in
            HangingEncoder(try X264Encoder(settings), gate)
        }
    }

    let name = "hanging"
    private let encoder: X264Encoder
    private let gate: Gate

    init(_ encoder: X264Encoder, _ gate: Gate) {
        (self.encoder, self.gate) = (encoder, gate)
    }

    var settings: EncoderSettings { encoder.settings }

    func encode(_ picture: PlanarPicture, forceKeyframe: Bool) throws(EncoderError) -> EncodedPicture {
        gate.pass()
        return try encoder.encode(picture, forceKeyframe: forceKeyframe)
    }

    func reconfigure(bitrate: Int, burst: Int, fps: Int) -> Bool {
        encoder.reconfigure(bitrate: bitrate, burst: burst, fps: fps)
    }
}
