import HeliographAPI
import Library
import NIOCore
import NIOPosix
import NIOWebSocket
import Synchronization

/// The clients that follow the library, and what each of them plays.
///
/// A client hears at once what its own messages did. What others do, and what the library's disk does, it hears
/// together after a short pause, so that much of it costs little.
actor LibraryChannel {
    fileprivate struct Member {
        let client: LibraryClient
        /// The name that the relay gives it.
        let id: String
        /// The name that it gives itself; `nil` for none.
        var name: String?
        var hasGreeted = false
        var playback = Playback()
    }

    private static let most = 256
    /// How long a client may take for its first message.
    private static let greetingTime = Duration.seconds(10)
    private static let pause = Duration.milliseconds(100)
    /// The time until the library is read again after a failure.
    private static let longPause = Duration.seconds(1)

    private var members: [Member] = []
    private var lastNumber = 0
    private var isClosed = false
    /// The library that is observed.
    private var library: Library?
    /// Clients whose playback others have not heard of yet.
    private var untold: Set<String> = []
    private var random = SystemRandomNumberGenerator()
    private var isTelling = false
    /// What has happened to the library since the clients were told; `nil` if nobody is about to tell them.
    private nonisolated let news = Mutex<ItemCommit?>(nil)

    /// Whether another client can connect.
    var hasRoom: Bool { !isClosed && members.count < Self.most }

    /// Returns all clients, as a caller may see them.
    func report(for caller: Caller) -> LibraryClients {
        var report = LibraryClients()
        report.clients = members.filter(\.hasGreeted).map { LibraryClientReport($0, for: caller) }
        return report
    }

    /// Closes all connections. None is served afterwards.
    func close() {
        isClosed = true
        for member in members { member.client.close(.init(.goingAway, "the relay ends")) }
    }

    // MARK: - A client

    /// Serves a client until its connection closes.
    func serve(_ client: LibraryClient, _ messages: AsyncStream<LibraryMessage>) async {
        guard hasRoom else { return client.close(.init(WebSocketClose.tryAgainLater, "no room for another client")) }
        lastNumber += 1
        let id = "c\(lastNumber)"
        members.append(Member(client: client, id: id))
        let patience = Task {
            try await Task.sleep(for: Self.greetingTime)
            client.close(.init(.policyViolation, "hello did not come"))
        }
        observe(client.library)
        for await message in messages {
            switch message {
            case .hello(let version, let name):
                patience.cancel()
                await greet(id, version, name)
            case _ where self[id]?.hasGreeted != true:
                client.close(.init(.policyViolation, "the first message is hello"))
            case .command(let command): await carryOut(command, of: id)
            case .unknown(let type):
                client.send([LibraryEvent.error(.unknownCommand, "there is no command \(type)", command: type)])
            }
        }
        patience.cancel()
        leave(id)
    }

    private subscript(id: String) -> Member? {
        get { members.first { $0.id == id } }
        set {
            guard let newValue, let place = members.firstIndex(where: { $0.id == id }) else { return }
            members[place] = newValue
        }
    }

    private func greet(_ id: String, _ version: Int, _ name: String?) async {
        guard let member = self[id] else { return }
        let client = member.client
        guard !member.hasGreeted else { return client.close(.init(.policyViolation, "hello came twice")) }
        guard version == LibraryMessage.version else {
            let ours = LibraryMessage.version
            let detail =
                "this relay's channel has version \(ours), and the client's has \(version): use the same release"
            client.send([LibraryEvent.error(.otherVersion, detail)])
            return client.close(.init(WebSocketClose.otherVersion, "version \(ours)"))
        }
        guard let mark = await read(client, { try $0.mark() }) else { return }
        self[id]?.name = name
        self[id]?.hasGreeted = true
        let others = members.filter { $0.hasGreeted && $0.id != id }
        client.send(
            [LibraryEvent.hello(client: id, mark: mark)]
                + others.map { LibraryEvent.playback(LibraryClientReport($0, for: client.caller)) }
        )
        changed(id)
        // The others may have heard of a change that came after the mark was read.
        guard let now = await read(client, { try $0.mark() }), now != mark else { return }
        client.send([LibraryEvent.ready(mark: now)])
    }

    private func leave(_ id: String) {
        let hadGreeted = self[id]?.hasGreeted == true
        members.removeAll { $0.id == id }
        untold.remove(id)
        guard hadGreeted else { return }
        for member in members where member.hasGreeted { member.client.send([LibraryEvent.left(client: id)]) }
    }

    private func carryOut(_ command: LibraryMessage.Command, of id: String) async {
        guard let client = self[id]?.client else { return }
        switch command {
        case .refreshDB:
            guard let mark = await read(client, { try $0.mark() }) else { return }
            return client.send([LibraryEvent.ready(mark: mark)])
        case .play(let items, let place, let position):
            guard let entries = await entries(items, for: client) else { return }
            let now = Self.now
            self[id]?.playback.play(entries, from: place, at: position, now: now, using: &random)
        default:
            let now = Self.now
            guard self[id]?.playback.carryOut(command, now: now, using: &random) == true else {
                let detail = "the queue is empty: play items first"
                return client.send([LibraryEvent.error(.nothingToPlay, detail, command: command.type)])
            }
        }
        guard let member = self[id] else { return }
        client.send([LibraryEvent.playback(LibraryClientReport(member, for: client.caller))])
        changed(id)
    }

    /// Returns the queue's entries for items. Tells the client if one of them is not there for it.
    private func entries(_ items: [Int64], for client: LibraryClient) async -> [Playback.Entry]? {
        let scope = client.caller.scope
        let found = await read(client) { library in
            try items.map { id in try library.item(id, scope: scope).map { ($0.facts.device, $0.facts.duration) } }
        }
        guard let found else { return nil }
        var entries: [Playback.Entry] = []
        for (item, facts) in zip(items, found) {
            guard let (device, length) = facts else {
                let detail = "there is no item \(item): list the library to see which there are"
                client.send([LibraryEvent.error(.unknownItem, detail, command: "play")])
                return nil
            }
            entries.append(Playback.Entry(item: item, device: device, length: length))
        }
        return entries
    }

    /// Reads the library on a thread that may wait for the disk. Tells the client if that fails.
    private func read<Value: Sendable>(
        _ client: LibraryClient,
        _ body: @escaping @Sendable (Library) throws -> Value
    ) async -> Value? {
        do {
            return try await NIOThreadPool.singleton.runIfActive { [library = client.library] in try body(library) }
        } catch {
            client.send([LibraryEvent.error(.libraryUnavailable, "\(error)")])
            return nil
        }
    }

    private static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

    // MARK: - What others hear

    /// Tells the others soon what a client plays.
    private func changed(_ id: String) {
        let isFirst = untold.isEmpty
        untold.insert(id)
        guard isFirst else { return }
        Task {
            try? await Task.sleep(for: Self.pause)
            tellPlayback()
        }
    }

    private func tellPlayback() {
        let due = members.filter { untold.contains($0.id) }
        untold = []
        for member in members where member.hasGreeted {
            let others = due.filter { $0.id != member.id }
            member.client.send(others.map { LibraryEvent.playback(LibraryClientReport($0, for: member.client.caller)) })
        }
    }

    private func observe(_ library: Library) {
        guard self.library !== library else { return }
        self.library = library
        library.observe { [weak self, weak library] commit in
            guard let self, let library, note(commit) else { return }
            Task {
                try? await Task.sleep(for: Self.pause)
                await self.tellNews(of: library)
            }
        }
    }

    /// Notes what has happened to the library.
    ///
    /// - Returns: Whether nobody is about to tell the clients.
    private nonisolated func note(_ commit: ItemCommit) -> Bool {
        news.withLock { news in
            let isFirst = news == nil
            news = news ?? ItemCommit()
            news?.formUnion(commit)
            return isFirst
        }
    }

    private func tellNews(of library: Library) async {
        // One at a time, so that they come in order. The one that is at it tells all.
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        while let commit = news.withLock({ $0.take() }) {
            guard members.contains(where: \.hasGreeted) else { continue }
            let told: LibraryNews?
            do {
                told = try await NIOThreadPool.singleton.runIfActive { try LibraryNews(of: commit, in: library) }
            } catch {
                return tryAgain(commit, of: library)
            }
            guard let told else { continue }
            for member in members where member.hasGreeted { member.client.send(told.events(for: member.client.caller)) }
        }
    }

    /// Keeps news that could not be read, and tries again.
    private func tryAgain(_ commit: ItemCommit, of library: Library) {
        news.withLock { news in
            var all = commit
            if let news { all.formUnion(news) }
            news = all
        }
        Task {
            try? await Task.sleep(for: Self.longPause)
            await tellNews(of: library)
        }
    }
}

/// What has happened to the library, as its clients hear it.
private struct LibraryNews: Sendable {
    var added: [Item]
    /// The removed items with their devices; `nil` for those that are no longer known.
    var removed: [(id: Int64, device: String?)]
    var mark: String

    /// Reads the news; `nil` if recordings that go on have only grown.
    init?(of commit: ItemCommit, in library: Library) throws {
        (added, removed) = ([], [])
        if !commit.isCut {
            added = try commit.added.sorted().compactMap { try library.item($0) }
            removed = try commit.removed.sorted().map { ($0, try library.device(ofRemoved: $0)) }
            if added.isEmpty, removed.isEmpty,
                try commit.changed.allSatisfy({ try library.item($0)?.state == .recording })
            {
                return nil
            }
        }
        mark = try library.mark()
    }

    func events(for caller: Caller) -> [JSONValue] {
        let removed = removed.filter { $0.device.map(caller.reaches) ?? (caller.devices == nil) }
        return added.filter { caller.reaches($0.facts.device) }.map(LibraryEvent.added)
            + removed.map { LibraryEvent.removed($0.id) } + [LibraryEvent.ready(mark: mark)]
    }
}

extension LibraryClientReport {
    /// Reports a client, without items that the caller may not see.
    fileprivate init(_ member: LibraryChannel.Member, for caller: Caller) {
        self.init()
        let (playback, now) = (member.playback, NIODeadline.now().uptimeNanoseconds)
        (client, name, key) = (member.id, member.name, member.client.caller.keyName)
        state = playback.state.rawValue
        func seen(_ entry: Playback.Entry?) -> Int? {
            entry.flatMap { caller.reaches($0.device) ? Int(clamping: $0.item) : nil }
        }
        (item, next) = (seen(playback.current), seen(playback.next))
        position = Double(playback.position(at: now)) / 1e6
        seconds = Double(playback.current?.length ?? 0) / 1e6
        (place, length) = (playback.place, playback.length)
        (volume, shuffle) = (playback.volume, playback.isShuffled)
    }
}
