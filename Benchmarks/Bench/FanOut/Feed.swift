import Foundation
import Media
import TestSupport
import Wire

/// The destination of a feed's pictures.
protocol FeedTarget {
    func send(_ picture: Feed.Picture)
}

/// Pictures at a steady rate, whose PTS are the instants at which they are sent.
struct Feed {
    struct Picture {
        /// µs
        var pts: Int64
        var isKeyframe: Bool
        /// Annex B without parameter sets, so that a keyframe is one packet in scrcpy's framing.
        var bytes: [UInt8]
    }

    private static let fps = 30
    /// Pictures from one keyframe to the next: 2 s.
    private static let group = 60
    /// The monotonic instant of PTS 0, ns.
    let epoch: Int64
    /// Bytes of each picture. A keyframe has 8 % of its group.
    private let sizes: (keyframe: Int, other: Int)

    /// - Parameter bitrate: Bits per second.
    init(epoch: Int64, bitrate: Int) {
        self.epoch = epoch
        let bytes = bitrate / 8 * Self.group / Self.fps
        sizes = (bytes * 8 / 100, bytes * 92 / 100 / (Self.group - 1))
    }

    /// Sends pictures for that long. Blocks its thread.
    ///
    /// - Returns: The number of pictures.
    func run(seconds: Int, to target: some FeedTarget) -> Int {
        let start = monotonicNow()
        let count = seconds * Self.fps
        for slot in 0..<count {
            let due = start + Int64(slot) * 1_000_000_000 / Int64(Self.fps)
            usleep(UInt32(max(0, due - monotonicNow()) / 1000))
            // Each run begins with a keyframe.
            let isKeyframe = slot % Self.group == 0
            let size = isKeyframe ? sizes.keyframe : sizes.other
            var bytes = [UInt8](repeating: 0xAA, count: size)
            bytes.replaceSubrange(0..<5, with: [0, 0, 0, 1, isKeyframe ? 0x65 : 0x41])
            let pts = (monotonicNow() - epoch) / 1000
            target.send(Picture(pts: pts, isKeyframe: isKeyframe, bytes: bytes))
        }
        return count
    }
}

/// An agent that captures nothing: the relay's side of the feed.
final class FeedingAgent: FeedTarget {
    private let descriptor: Int32
    private let session: SessionID
    private var request: UInt32

    /// Connects, and waits until the relay wants the session's pictures.
    init(port: Int, token: String, session: SessionID) throws {
        descriptor = try Connection(port: port).descriptor
        self.session = session
        request = 0
        write(.hello(Hello(token: token, device: "default", source: "test-pattern", pid: getpid(), release: "bench")))
        write(.status(SourceStatus(state: .streaming, size: Self.size)))
        var decoder = PacketDecoder(accepting: .relayToAgent)
        while request == 0 {
            let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { memory, initialized in
                initialized = max(0, recv(descriptor, memory.baseAddress, 4096, 0))
            }
            guard !bytes.isEmpty else { throw NeverCame(description: "the relay closed the agent's link") }
            decoder.append(bytes)
            while let packet = try decoder.next() {
                if case .keyframeRequest(session, let id) = packet { request = id }
            }
        }
    }

    private static let size = PictureSize(width: 1280, height: 720)

    /// The next group's keyframe answers later requests.
    func send(_ picture: Feed.Picture) {
        let unit = AccessUnit(
            pts: picture.pts,
            captured: 1,
            encodeStart: 1,
            encodeEnd: 1,
            flags: picture.isKeyframe ? .key : [],
            keyframeRequest: picture.isKeyframe ? request : 0,
            size: Self.size,
            bytes: picture.bytes
        )
        write(.accessUnit(session, unit))
        discardInput()
    }

    private func discardInput() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }

    private func write(_ packet: Packet) { writeAll(packet.encoded(), to: descriptor) }

    func end() { close(descriptor) }
}

/// The plain loop's side of the feed.
final class FeedingLoop: FeedTarget {
    private static let keyframeFlag: UInt64 = 1 << 62

    let port: Int
    private let descriptor: Int32
    private let process = Process()

    init() throws {
        process.executableURL = Programs.product("LimitLoop")
        process.arguments = ["fan-out"]
        let output = Pipe()
        process.standardOutput = output
        try Programs.start(process)
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw NeverCame(description: "the loop's port")
        }
        self.port = port
        descriptor = try Connection(port: port).descriptor
    }

    func send(_ picture: Feed.Picture) {
        var packet: [UInt8] = []
        packet.reserveCapacity(12 + picture.bytes.count)
        withUnsafeBytes(of: (UInt64(picture.pts) | (picture.isKeyframe ? Self.keyframeFlag : 0)).bigEndian) {
            packet += $0
        }
        withUnsafeBytes(of: UInt32(picture.bytes.count).bigEndian) { packet += $0 }
        packet += picture.bytes
        writeAll(packet, to: descriptor)
    }

    func end() {
        close(descriptor)
        process.waitUntilExit()
    }
}

private func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
    var sent = 0
    bytes.withUnsafeBytes { memory in
        while sent < memory.count {
            let count = Glibc.send(
                descriptor,
                memory.baseAddress! + sent,
                memory.count - sent,
                Int32(MSG_NOSIGNAL)
            )
            guard count > 0 else { return }
            sent += count
        }
    }
}
