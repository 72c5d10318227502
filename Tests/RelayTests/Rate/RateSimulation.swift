import HeliographAPI
import Media
import NIOCore
import Relay

/// A session whose bitrate follows its viewers, each with a link of its own: a simulation in steps of 1 ms.
///
/// The encoder makes what it may, within its verifier's buffer. It has a keyframe every 2 s, and another when a viewer
/// needs one.
struct RateSimulation {
    /// The way to a viewer.
    struct Link {
        /// bit/s at a time in s.
        var rate: @Sendable (Double) -> Double
        /// How long a packet takes each way, ms.
        var delay = 10
        /// The bytes that wait in the network at most.
        var buffer = 50_000
        /// Every so many ms a packet is lost, so that nothing arrives for a round trip and 40 ms. 0: never.
        var lossInterval = 0
    }

    /// What one viewer saw.
    struct Outcome {
        /// When each picture arrived, in ms, how long after its encoding, and its bytes.
        var arrivals: [(at: Int, latency: Int, size: Int)] = []
        var resyncs = 0
    }

    fileprivate struct Picture {
        let pts: Int64
        let size: Int
        var left: Int
    }

    fileprivate struct Viewer {
        let link: Link
        var followed = FollowedViewer()
        var needsKeyframe = true
        var queue: [Picture] = []
        var pipe: [Picture] = []
        var flying: [(due: Int, picture: Picture)] = []
        var acknowledgements: [(due: Int, pts: Int64)] = []
        /// The bytes that the link may take now.
        var budget = 0.0
        var outcome = Outcome()
    }

    /// What the relay's host keeps of a connection: on the way to the kernel, and unsent in it.
    fileprivate static let hostBuffer = 48_000
    private static let size = PictureSize(width: 1280, height: 720)

    private var viewers: [Viewer]
    private var policy = RatePolicy()
    private let request: SessionRequest
    /// What the encoder has made of the settings at a time in ms.
    private(set) var settings: [(at: Int, SessionRequest)] = []

    var outcomes: [Outcome] { viewers.map(\.outcome) }

    init(_ links: [Link], adapt: Adaptation = .followSlowest, bitrate: Int = 6_000_000) {
        viewers = links.map { Viewer(link: $0) }
        var request = SessionRequest()
        (request.adapt, request.bitrate) = (adapt, bitrate)
        self.request = request
    }

    fileprivate static func instant(_ ms: Int) -> NIODeadline { .uptimeNanoseconds(UInt64(ms) * 1_000_000) }

    /// - Parameter isStatic: Whether the screen is static at a time in s.
    mutating func run(seconds: Int, isStatic: (Double) -> Bool = { _ in false }) {
        var (encoded, verifier, due, keyframe) = (request, 0.0, 0.0, -2000)
        for ms in 0..<(seconds * 1000) {
            if Double(ms) >= due {
                let interval = 1000 / Double(encoded.fps)
                due += interval
                let isWanted = viewers.contains { $0.needsKeyframe && !$0.followed.mustWait }
                let isKey = ms - keyframe >= 2000 || isWanted && ms - keyframe >= 500
                if isKey { keyframe = ms }
                let bits = Self.bits(
                    ms,
                    isKey,
                    isStatic(Double(ms) / 1000),
                    Double(encoded.bitrate),
                    interval / 1000,
                    &verifier
                )
                let picture = Picture(pts: Int64(ms), size: Int(bits / 8), left: Int(bits / 8))
                for index in viewers.indices { viewers[index].offer(picture, isKey: isKey) }
            }
            for index in viewers.indices { viewers[index].step(ms) }
            guard ms % 100 == 0 else { continue }
            let limits = Double(request.leastBitrate)...Double(request.bitrate)
            let votes = viewers.indices.compactMap { index in
                viewers[index].followed.decide(within: limits, now: Self.instant(ms))
            }
            encoded = policy.settings(of: request, allowed: votes.allowed, in: Self.size, now: Self.instant(ms))
            settings.append((ms, encoded))
        }
    }

    /// Returns the size of the next picture.
    private static func bits(
        _ ms: Int,
        _ isKey: Bool,
        _ isStatic: Bool,
        _ bitrate: Double,
        _ interval: Double,
        _ verifier: inout Double
    ) -> Double {
        verifier = max(0, verifier - bitrate * interval)
        let uneven = 0.6 + 0.8 * Double(ms * 7919 % 101) / 100
        let wanted = isStatic ? 800 : isKey ? bitrate : bitrate * interval * uneven * 1.1
        let bits = min(wanted, max(bitrate * 0.25 - verifier, bitrate * interval / 2))
        verifier += bits
        return bits
    }
}

extension RateSimulation.Viewer {
    mutating func offer(_ picture: RateSimulation.Picture, isKey: Bool) {
        if followed.mustWait {
            if !needsKeyframe { outcome.resyncs += 1 }
            (queue, needsKeyframe) = ([], true)
        } else if isKey || !needsKeyframe {
            needsKeyframe = false
            queue.append(picture)
        }
    }

    mutating func step(_ ms: Int) {
        // The relay.
        var waiting = pipe.reduce(0) { $0 + $1.left }
        while let first = queue.first, waiting < link.buffer + RateSimulation.hostBuffer {
            queue.removeFirst()
            pipe.append(first)
            waiting += first.left
            followed.sent(first.pts, bytes: first.size, since: RateSimulation.instant(Int(first.pts)))
        }
        // The link.
        let isStalled = link.lossInterval > 0 && ms % link.lossInterval < 2 * link.delay + 40
        budget += isStalled ? 0 : link.rate(Double(ms) / 1000) / 8000
        if pipe.isEmpty { budget = min(budget, 1) }
        while let first = pipe.first, budget >= 1 {
            let taken = min(Int(budget), first.left)
            budget -= Double(taken)
            pipe[0].left -= taken
            guard pipe[0].left == 0 else { break }
            flying.append((ms + link.delay, pipe.removeFirst()))
        }
        // The viewer.
        while let (due, picture) = flying.first, due <= ms {
            flying.removeFirst()
            outcome.arrivals.append((ms, ms - Int(picture.pts), picture.size))
            acknowledgements.append((ms + link.delay, picture.pts))
        }
        while let (due, pts) = acknowledgements.first, due <= ms {
            acknowledgements.removeFirst()
            followed.arrived(pts, now: RateSimulation.instant(ms))
        }
    }
}
