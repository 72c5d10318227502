import FoundationEssentials
import HTTPTypes
import HeliographAPI
import Hummingbird
import Library
import LibraryAPI
import NIOCore
import NIOPosix
import Packaging
import SystemPackage

extension API {
    func addLibraryRoutes(to routes: inout RouteTable) {
        routes.add(Routes.startRecording) { _, _, context in try await record(true, context) }
        routes.add(Routes.stopRecording) { _, _, context in try await record(false, context) }
        routes.add(Routes.startDeviceRecording) { _, _, context in try await recordDevice(context) }
        routes.add(Routes.stopDeviceRecording) { _, _, context in try await record(false, context) }
        routes.add(Routes.getLibraryUsage) { _, _, context in try await libraryUsage(context.caller) }
        routes.add(Routes.listLibraryClients) { _, _, context in
            _ = try await inLibrary { $0.folder }
            return await switchboard.recordings.channel.report(for: context.caller)
        }
        routes.add(Routes.listLibrary) { query, _, context in try await listLibrary(query, context.caller) }
        routes.add(Routes.listLibraryChanges) { query, _, context in
            LibraryChanges(try await inLibrary { try $0.changes(since: query.since, scope: context.caller.scope) })
        }
        routes.add(Routes.getLibraryItem) { _, _, context in LibraryItem(try await item(context)) }
        routes.add(Routes.changeLibraryItem) { change, _, context in try await changeItem(change, context) }
        routes.add(Routes.deleteLibraryItem) { _, _, context in
            let item = try await item(context)
            try await inLibrary { try $0.delete(item.id) }
            return LibraryItem(item)
        }
        routes.add(Routes.restoreLibraryItem) { _, _, context in
            let id = try Self.itemID(context)
            try await inLibrary { try $0.undelete(id) }
            return LibraryItem(try await item(context))
        }
        routes.respond(to: Routes.getLibraryFile) { _, request, context in try await file(request, context) }
        routes.respond(to: Routes.getLibraryClip) { query, request, context in
            try await clip(query, request, context)
        }
        routes.respond(to: Routes.getLibraryThumbnail) { _, _, context in
            try await companion(".jpg", "image/jpeg", context)
        }
        routes.respond(to: Routes.getLibraryStoryboard) { _, _, context in
            try await companion(".vtt", "text/vtt", context)
        }
        routes.respond(to: Routes.getLibrarySheet) { _, _, context in
            let number = context.parameters.get("sheet").flatMap { UInt16($0) } ?? .max
            return try await companion(LibraryLayout.sheetEnding(Int(number)), "image/jpeg", context)
        }
    }

    // MARK: Recording

    @MediaLoop
    private func record(_ records: Bool, _ context: RelayRequestContext) async throws(Problem) -> SessionReport {
        let session = try session(context)
        var request = session.request
        request.record = records
        do {
            try await switchboard.changeSession(session, to: request, by: context.caller.keyName)
        } catch {
            throw Problem(error)
        }
        return SessionReport(session, of: switchboard.broadcast(of: session.device.name))
    }

    @MediaLoop
    private func recordDevice(_ context: RelayRequestContext) async throws(Problem) -> SessionReport {
        let broadcast = try broadcast(context.parameters.get("device"))
        context.audit.note("device", broadcast.device.name)
        let session: Session
        do {
            session = try await SharedSession.record(on: broadcast, of: switchboard, by: context.caller.keyName)
        } catch {
            throw Problem(error)
        }
        session.touch()
        context.audit.note("session", session.id)
        return SessionReport(session, of: broadcast)
    }

    // MARK: Items

    /// Returns the usage of the devices that the caller's key reaches.
    private func libraryUsage(_ caller: Caller) async throws -> LibraryUsage {
        let configuration = await switchboard.configuration
        let (totals, free) = try await inLibrary { (try $0.totals(), try $0.freeBytes()) }
        var report = LibraryUsage()
        let reached = totals.filter { $0.value.items > 0 && caller.reaches($0.key) }.sorted { $0.key < $1.key }
        report.devices = reached.map { name, totals in
            var device = LibraryUsage.Device()
            (device.device, device.items) = (name, Int(totals.items))
            device.bytes = UInt64(clamping: totals.bytes)
            return device
        }
        report.items = report.devices.reduce(0) { $0 + $1.items }
        report.bytes = report.devices.reduce(0) { $0 + $1.bytes }
        report.freeBytes = free
        report.pausesBelow = UInt64(clamping: configuration.libraryFree)
        report.mostBytes = configuration.librarySize > 0 ? UInt64(clamping: configuration.librarySize) : nil
        return report
    }

    /// Calls the library on a thread that may wait for the disk.
    func inLibrary<Result: Sendable>(
        _ body: @escaping @Sendable (Library) throws -> Result
    ) async throws -> Result {
        let library: Library
        do {
            library = try await switchboard.recordings.library().get()
        } catch {
            throw Problem(.libraryUnavailable, "\(error)")
        }
        do {
            return try await NIOThreadPool.singleton.runIfActive { try body(library) }
        } catch let error as LibraryError {
            throw Problem(error)
        }
    }

    static func itemID(_ context: RelayRequestContext) throws -> Int64 {
        let text = context.parameters.get("item") ?? ""
        context.audit.note("item", text)
        guard let id = Int64(text) else {
            throw Problem(.unknownItem, "there is no item \(text): list the library to see which there are")
        }
        return id
    }

    func item(_ context: RelayRequestContext) async throws -> Item {
        let id = try Self.itemID(context)
        guard let item = try await inLibrary({ try $0.item(id) }) else { throw Problem(LibraryError.unknownItem(id)) }
        context.audit.note("device", item.facts.device)
        return item
    }

    private func listLibrary(_ asked: LibraryQuery, _ caller: Caller) async throws -> LibraryPage {
        let query = try Self.understood { () throws(LibraryQueryFault) in try ItemQuery(asked) }
        return LibraryPage(try await inLibrary { try $0.items(query, scope: caller.scope) })
    }

    /// Runs `body`, which reads arguments.
    private static func understood<Value>(_ body: () throws(LibraryQueryFault) -> Value) throws(Problem) -> Value {
        do {
            return try body()
        } catch {
            throw Problem(.unknownValue, error.description, field: error.field)
        }
    }

    private func changeItem(_ change: LibraryChange, _ context: RelayRequestContext) async throws -> LibraryItem {
        let id = try await item(context).id
        var labels: [String: String?] = [:]
        for text in change.labels ?? [] {
            let (name, value) = try Self.understood { () throws(LibraryQueryFault) in try ItemQuery.label(text) }
            labels[name] = .some(value.isEmpty ? nil : value)
        }
        try await inLibrary { [labels] library in
            if let isPinned = change.pinned { try library.pin(id, isPinned) }
            if !labels.isEmpty { try library.label(id, labels) }
        }
        return LibraryItem(try await item(context))
    }

    // MARK: Files

    private func file(_ request: Request, _ context: RelayRequestContext) async throws -> Response {
        let item = try await item(context)
        let file = try await inLibrary { try $0.open(item) }
        let length = file.length
        let tag = "\"\(item.id)-\(length)\""
        return Self.response(
            FileBody([.file(file, FilePiece(offset: 0, length: length))]),
            type: item.mediaType,
            tag: tag,
            name: item.fileName,
            to: request
        )
    }

    /// Returns a file that belongs to an item.
    ///
    /// - Parameter ending: Of its name, after the item's.
    private func companion(
        _ ending: String,
        _ type: String,
        _ context: RelayRequestContext
    ) async throws -> Response {
        let item = try await item(context)
        let bytes = try await inLibrary { library in
            let path = FilePath(library.folder + "/" + LibraryLayout.companion(of: item.path, ending: ending))
            guard let file = try? RecordingFile(reading: path), file.length <= 16 << 20,
                let bytes = file.read(at: 0, count: Int(clamping: file.length))
            else { throw Problem(.unknownItem, "item \(item.id) has no such picture") }
            return bytes
        }
        return Response(
            status: .ok,
            headers: [.contentType: type, .cacheControl: "private, max-age=60"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes))
        )
    }

    private func clip(_ query: ClipQuery, _ request: Request, _ context: RelayRequestContext) async throws -> Response {
        let item = try await item(context)
        guard item.facts.isOfSession else {
            throw Problem(.outOfRange, "item \(item.id) is a file of another program: clips are of recordings")
        }
        let start = Int64(query.start * 1e6)
        let end = query.end.map { Int64($0 * 1e6) } ?? item.facts.duration
        guard start < end else {
            throw Problem(.outOfRange, "end is not after start: the item lasts \(item.seconds) s", field: "end")
        }
        let body = try await inLibrary { library in
            let items = try library.recording(item.facts.recording, scope: context.caller.scope)
            let origin = item.facts
            var (sources, files) = ([MovieClip.Source](), [RecordingFile]())
            for other in items where other.state != .missing {
                let distance = other.facts.distance(from: origin)
                guard distance < end, distance + other.facts.duration > start, distance >= 0 || other.id == item.id
                else { continue }
                let file = try library.open(other)
                guard let scan = try? RecordingScan(size: file.length, read: { file.read(at: $0, count: $1) }) else {
                    continue
                }
                sources.append(MovieClip.Source(index: scan.index, start: UInt64(distance)))
                files.append(file)
            }
            let clip: MovieClip
            do {
                clip = try MovieClip(sources, UInt64(start)..<UInt64(end))
            } catch MovieClip.Failure.empty {
                throw Problem(.outOfRange, "nothing was recorded in that time: the item lasts \(item.seconds) s")
            } catch MovieClip.Failure.changesFormat {
                throw Problem(.outOfRange, "the size or encoding changes in that time: clip each file of the recording")
            }
            return FileBody([.bytes(clip.head)] + clip.pieces.map { .file(files[$0.source], $0.piece) })
        }
        return Self.response(
            body,
            tag: "\"\(item.id)-\(start)-\(end)-\(body.length)\"",
            name: item.fileName,
            to: request
        )
    }

    /// Returns a `Content-Disposition` with a file's name (RFC 6266, 4).
    private static func disposition(_ name: String) -> String {
        let plain = name.withoutReserved
        return "inline; filename=\"\(plain)\"" + (plain == name ? "" : "; filename*=UTF-8''\(name.percentEncoded)")
    }

    private static func response(
        _ body: FileBody,
        type: String = "video/mp4",
        tag: String,
        name: String,
        to request: Request
    ) -> Response {
        var headers: HTTPFields = [
            .contentType: type, .eTag: tag, .acceptRanges: "bytes", .cacheControl: "private, no-cache",
            .contentDisposition: Self.disposition(name),
        ]
        if request.headers[.ifNoneMatch] == tag { return Response(status: .notModified, headers: headers) }
        let isCurrent = request.headers[.ifRange].map { $0 == tag } ?? true
        switch FileBody.Range(isCurrent ? request.headers[.range] : nil, of: body.length) {
        case .whole: return Response(status: .ok, headers: headers, body: body.response)
        case .part(let first, let last):
            headers[.contentRange] = "bytes \(first)-\(last)/\(body.length)"
            let part = body.part(from: first, count: last - first + 1)
            return Response(status: .partialContent, headers: headers, body: part.response)
        case .unsatisfiable:
            let problem = Problem(.badRange, "the body has \(body.length) bytes")
            var answer = Answer.problem(problem)
            answer.headers[.contentRange] = "bytes */\(body.length)"
            return answer
        }
    }
}

extension Caller {
    /// The devices whose items the caller may see.
    var scope: DeviceScope { devices.map { .only(Set($0)) } ?? .all }
}

extension Item {
    fileprivate var fileName: String { path.split(separator: "/").suffix(1).joined() }

    fileprivate var seconds: Double { (Double(facts.duration) / 1e6).rounded(places: 3) }
}

extension Problem {
    init(_ error: LibraryError) {
        switch error {
        case .unknownItem, .file: self.init(.unknownItem, "\(error)")
        case .isRecording, .notRecording: self.init(.itemInUse, "\(error)")
        case .invalid, .badPath, .pathTaken, .badCursor, .badLimit: self.init(.unknownValue, "\(error)")
        case .inUse, .folder, .newer, .damaged, .storage: self.init(.libraryUnavailable, "\(error)")
        }
    }
}

extension LibraryChanges {
    fileprivate init(_ changes: ItemChanges) {
        self.init()
        changed = changes.changes.filter { !$0.isRemoved }.map { Int($0.id) }
        removed = changes.changes.filter(\.isRemoved).map { Int($0.id) }
        mark = changes.mark
        listAgain = changes.isTooOld
    }
}
