import Foundation
import Media
import Synchronization
import TestSupport
import Wire

/// An agent that sends good pictures, and among them access units without a start code or with an invalid NAL unit
/// header.
final class CarelessAgent: @unchecked Sendable {
    // Unchecked because one thread runs it, and nothing else is written after the initialiser.

    /// No process has this pid.
    static let pid = Int32.max
    private static let session: SessionID = 1
    /// Between two pictures, ms.
    private static let interval: Int32 = 33
    /// Slots between a malformed unit and the keyframe that ends its gap.
    private static let pause = 10

    /// The fault of an access unit.
    private enum Flaw: CaseIterable {
        case noStartCode, forbiddenBit, unspecifiedType

        func applied(to unit: [UInt8]) -> [UInt8] {
            // A start code has 3 bytes or 4.
            let header = (unit.firstIndex(of: 1) ?? 0) + 1
            var unit = unit
            switch self {
            case .noStartCode: unit.removeFirst(header)
            case .forbiddenBit: unit[header] |= 0x80
            case .unspecifiedType: unit[header] &= 0xE0
            }
            return unit
        }
    }

    private let connection: Connection
    private let isClosed = Mutex(false)
    private let group: [ScrcpyViewer.Picture]
    private var decoder = PacketDecoder(accepting: .relayToAgent)
    /// The session's epoch; `nil` until the relay has sent it.
    private var epoch: UInt64?
    /// The keyframe request that is not answered yet.
    private var request: UInt32?
    /// The next picture's place in the group.
    private var next = 0
    /// Slots since the last malformed unit.
    private var quiet = CarelessAgent.pause
    private var keyframes = 0
    /// How many malformed units it has sent.
    private(set) var malformed = 0

    /// Takes the place of the broadcast's agent.
    ///
    /// - Parameter group: A keyframe and pictures after it.
    init(sending group: [ScrcpyViewer.Picture], to relay: RelayProcess) throws {
        self.group = group
        connection = try FakeAgent.greet(port: relay.agentPort, token: Rig.token)
        let status = SourceStatus(state: .streaming, size: Rig.size)
        connection.send(Packet.status(status).encoded())
    }

    func close() {
        let wasClosed = isClosed.withLock { isClosed in
            defer { isClosed = true }
            return isClosed
        }
        if !wasClosed { connection.close() }
    }

    /// Sends pictures for that long. Blocks its thread.
    ///
    /// - Throws: If the relay ends the link, or asks for no keyframe after malformed units.
    func run(seconds: Int64) throws {
        let end = monotonicNow() + seconds * 1_000_000_000
        while monotonicNow() < end {
            try receive()
            quiet += 1
            if request != nil, quiet >= Self.pause { answer() } else if keyframes > 0 { sendNext() }
        }
        // The last pictures are good ones.
        while request == nil || quiet < Self.pause {
            guard monotonicNow() < end + 5_000_000_000 else { break }
            try receive()
            quiet += 1
            // If the link were silent until then, the relay would give the agent up.
            if request == nil, quiet >= Self.pause { send(malformedPicture()) }
        }
        guard request != nil, keyframes > 3 else {
            throw NeverCame(description: "a keyframe request after a malformed unit: \(keyframes) keyframes were sent")
        }
        send(keyframe())
        for _ in 0..<Self.pause {
            try receive()
            send(picture())
        }
    }

    /// Reads what the relay sends during a slot.
    private func receive() throws {
        decoder.append(connection.read(upTo: 64 << 10, milliseconds: Self.interval))
        guard connection.isOpen else { throw NeverCame(description: "the relay ended the agent's link") }
        while let packet = try decoder.next() {
            switch packet {
            case .sessionAdd(Self.session, let parameters): epoch = parameters.epoch
            case .keyframeRequest(Self.session, let id): request = id
            case .reject(let reject): throw NeverCame(description: "the relay rejects the agent: \(reject.reason)")
            default: break
            }
        }
    }

    /// Sends the requested keyframe. Every other time, a malformed unit comes with it and the next three, in one piece,
    /// so a viewer gets them all at once.
    private func answer() {
        var bytes = keyframe()
        if !keyframes.isMultiple(of: 2) {
            for _ in 0..<3 { bytes += picture() }
            bytes += malformedPicture()
        }
        send(bytes)
    }

    /// Sends the group's next picture, or a malformed one in its place when there is no more.
    private func sendNext() {
        send(next + 1 < min(group.count, 2 * Self.pause) || quiet < Self.pause ? picture() : malformedPicture())
    }

    private func send(_ bytes: [UInt8]) { connection.send(bytes) }

    // MARK: Packets

    private func keyframe() -> [UInt8] {
        keyframes += 1
        next = 1
        defer { request = nil }
        return packet(group[0].bytes, flags: .key, request: request ?? 0)
    }

    private func picture() -> [UInt8] {
        defer { next = min(next + 1, group.count - 1) }
        return packet(group[next].bytes)
    }

    private func malformedPicture() -> [UInt8] {
        let flaw = Flaw.allCases[malformed % Flaw.allCases.count]
        malformed += 1
        quiet = 0
        return packet(flaw.applied(to: group[1].bytes))
    }

    private func packet(_ bytes: [UInt8], flags: AccessUnit.Flags = [], request: UInt32 = 0) -> [UInt8] {
        let now = UInt64(monotonicNow())
        let unit = AccessUnit(
            pts: Int64(now - min(now, epoch ?? now)) / 1000,
            captured: now,
            encodeStart: now,
            encodeEnd: now,
            flags: flags,
            keyframeRequest: request,
            size: Rig.size,
            bytes: bytes
        )
        return Packet.accessUnit(Self.session, unit).encoded()
    }
}
