import HeliographAPI
import Media
import NIOCore
import NIOWebSocket
import Wire

/// The small pictures that one client of the wall gets.
///
/// Sessions are asked one after the other, spread over the interval, and new ones first. A picture that is like the
/// last one is not sent, and a connection without room is left out.
@MediaLoop
final class WallPictures {
    /// What the client has of a session.
    private struct Tile {
        var last: ByteBuffer?
        var isDark = false
        var isAsked = false
    }

    /// The time between two new sessions.
    private static let newStep = TimeAmount.milliseconds(10)

    private let caller: Caller
    private let sessions: SessionTable
    private let channel: any Channel
    private var order: [SessionID] = []
    private var tiles: [SessionID: Tile] = [:]
    /// The sessions that have not been asked yet.
    private var new: ArraySlice<SessionID> = []
    /// The session in the order that is asked next.
    private var place = 0
    private var kind = SnapshotKind.preview
    private var interval = TimeAmount.seconds(2)
    private var timer: Scheduled<Void>?

    init(for caller: Caller, of sessions: SessionTable, on channel: any Channel) {
        (self.caller, self.sessions, self.channel) = (caller, sessions, channel)
    }

    /// Sends the pictures of these sessions from now on, and of no others.
    func show(_ message: WallMessage) {
        let kind = SnapshotKind(.jpeg, longestSide: message.width)
        if kind != self.kind { for id in tiles.keys { tiles[id]?.last = nil } }
        (self.kind, interval) = (kind, message.interval)
        let former: [SessionID: Tile] = tiles
        tiles = [:]
        order = message.sessions.filter { id in tiles.updateValue(former[id] ?? Tile(), forKey: id) == nil }
        new = order.filter { id in former[id]?.last == nil }[...]
        place = 0
        askNext()
    }

    func end() {
        timer?.cancel()
        (order, tiles, new) = ([], [:], [])
    }

    private func askNext() {
        timer?.cancel()
        guard !order.isEmpty else { return }
        let pause: TimeAmount
        if let id = new.popFirst() {
            ask(id)
            pause = Self.newStep
        } else {
            if let id = order[at: place] { ask(id) }
            place = (place + 1) % order.count
            pause = .nanoseconds(interval.nanoseconds / Int64(order.count))
        }
        timer = MediaLoop.schedule(at: .now() + pause) { [weak self] in self?.askNext() }
    }

    private func ask(_ id: SessionID) {
        guard channel.isWritable, tiles[id]?.isAsked == false, let session = sessions[id],
            caller.reaches(session.device.name)
        else { return }
        tiles[id]?.isAsked = true
        let kind = kind
        // Clients share pictures that are recent enough.
        let since = NIODeadline.now() - min(.nanoseconds(interval.nanoseconds / 2), SessionSnapshots.sharingTime)
        Task { took(await session.snapshots.snapshot(kind, since: since), of: id, kind) }
    }

    private func took(_ outcome: SessionSnapshots.Outcome, of id: SessionID, _ kind: SnapshotKind) {
        guard var tile = tiles[id] else { return }
        defer { tiles[id] = tile }
        tile.isAsked = false
        switch outcome {
        case .success(let picture):
            guard kind == self.kind, picture.bytes != tile.last else { return }
            (tile.last, tile.isDark) = (picture.bytes, false)
            var bytes = ByteBuffer(integer: id)
            bytes.writeImmutableBuffer(picture.bytes)
            channel.write(WebSocketFrame(fin: true, opcode: .binary, data: bytes))
        case .failure(.refused(.busy)), .failure(.tooManyWait): break
        case .failure:
            guard !tile.isDark else { return }
            (tile.last, tile.isDark) = (nil, true)
            channel.write(WallClient.frame(["type": "dark", "session": .integer(Int(clamping: id))]))
        }
    }
}

extension Channel {
    /// Sends a frame, from any thread.
    func write(_ frame: WebSocketFrame) { eventLoop.execute { self.writeAndFlush(frame, promise: nil) } }
}
