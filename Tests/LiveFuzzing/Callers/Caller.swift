import TestSupport

/// A hostile caller's connection while it lasts.
final class Caller {
    let attack: Attack
    private var peer: Peer?
    private var pieces: ArraySlice<[UInt8]>
    private var answer = AnswerReader()
    /// Those parts of the relay's answers that are not HTTP.
    private(set) var fault: Fault?
    private(set) var answers: [Int] = []
    private var hasEnded = false

    init(_ attack: Attack, port: Int, from source: UInt32, on loop: Loop) throws {
        self.attack = attack
        pieces = attack.pieces[...]
        let peer = try Peer(port: port, from: source, isSmall: !attack.reads) { [weak self] in self?.take($0) }
        peer.reads = attack.reads
        self.peer = peer
        loop.add(peer)
    }

    deinit { peer?.close() }

    /// Whether the caller believes that it is open. The caller does not see an end that comes after unread bytes.
    var isOpen: Bool { peer?.isOpen ?? false }

    /// Whether it has been given a stream or a WebSocket, which last.
    var isStream: Bool { answer.isStream }

    /// Sends the next piece. After the last piece, ends the connection if that belongs to the attack.
    func step() {
        guard let piece = pieces.popFirst() else {
            guard !hasEnded else { return }
            hasEnded = true
            switch attack.ending {
            case .silence: break
            case .close: peer?.close()
            case .reset: peer?.reset()
            case .half: peer?.closeOutput()
            }
            return
        }
        peer?.send(piece)
    }

    /// Whether it has done everything.
    var isDone: Bool { pieces.isEmpty && hasEnded || !isOpen }

    func leave() { peer?.close() }

    private func take(_ bytes: [UInt8]) {
        guard fault == nil, !isStream else { return }
        do throws(Fault) {
            var bytes = bytes
            repeat {
                _ = try answer.take(bytes)
                bytes = []
                guard answer.isComplete, let status = answer.status else { break }
                answers.append(status)
                try expect(status != 500, "an internal error", attack.name)
                bytes = answer.takeRest()
                answer = AnswerReader()
            } while !bytes.isEmpty
        } catch {
            fault = Fault("\(error.kind), to a caller", "\(error.detail) \(attack.name)")
        }
    }
}
