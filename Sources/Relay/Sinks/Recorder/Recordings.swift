import FoundationEssentials
import HeliographAPI
import Library
import Logging
import NIOCore
import NIOPosix
import Program
import Wire

/// The recordings of all sessions, and the library that they go to.
///
/// The library is opened when it is first needed, or at the relay's start if its folder exists.
@MediaLoop
final class Recordings {
    /// Why there is no library.
    enum Failure: Error, CustomStringConvertible {
        /// The configuration names no folder.
        case turnedOff
        case library(LibraryError)

        var description: String {
            switch self {
            case .turnedOff: "This relay has no library: set `library` to a folder."
            case .library(let error): error.description
            }
        }
    }

    /// How long the relay waits for the disk at its end.
    private static let closingTime = TimeAmount.seconds(10)

    /// The settings, of which the limits may change.
    var configuration: RelayConfiguration
    /// The recordings that are played in segments.
    let movies = MovieCache()
    /// Copies of the catalogue.
    let copies = CatalogueCopies()
    /// The clients that follow the library.
    let channel = LibraryChannel()
    private let logger: Logger
    /// What files there are and what is in them, opened; a pending one is shared by all callers.
    private var opening: Task<Result<Library, Failure>, Never>?
    private var recorded: [SessionID: Session] = [:]
    /// Recorders that complete their files.
    private var ending: [SessionID: Task<Void, Never>] = [:]
    private var isCleaning = false
    private var isClosed = false

    init(configuration: RelayConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    private var folder: String? { configuration.library }

    /// Opens the library if its folder exists, and completes what a crash has left.
    func begin() {
        guard let folder, access(folder, F_OK) == 0 else { return }
        Task { _ = await library() }
    }

    // MARK: The library

    /// Returns the library. A failure is tried again by the next caller.
    func library() async -> Result<Library, Failure> {
        guard let folder else { return .failure(.turnedOff) }
        if let opening { return await opening.value }
        let logger = logger
        let task = Task.detached { await Self.open(folder, logger) }
        opening = task
        let result = await task.value
        if case .failure = result { opening = nil }
        return result
    }

    /// Returns the library if it has room for another client of its channel; `nil` otherwise.
    func libraryWithRoom() async -> Library? {
        guard await channel.hasRoom, case .success(let library) = await library() else { return nil }
        return library
    }

    private nonisolated static func open(_ folder: String, _ logger: Logger) async -> Result<Library, Failure> {
        do {
            // Not on a thread for tasks: it waits for the disk.
            return .success(
                try await NIOThreadPool.singleton.runIfActive {
                    let library = try Library(folder: folder)
                    let report = try library.reconcile { try LibraryFile.inspect($0) }
                    if !report.isClean {
                        logger.notice(
                            "the library was compared with the disk",
                            metadata: [
                                "adopted": "\(report.adopted)", "completed": "\(report.interrupted)",
                                "missing": "\(report.missing)", "unreadable": "\(report.problemCount)",
                            ]
                        )
                    }
                    for problem in report.problems.prefix(10) {
                        logger.warning("not in the library: \(problem.path): \(problem.reason)")
                    }
                    return library
                }
            )
        } catch let error as LibraryError {
            logger.warning("the library cannot be used: \(error)")
            return .failure(.library(error))
        } catch {
            return .failure(.library(.storage(reason: "\(error)")))
        }
    }

    private nonisolated static func takeImports(of library: Library, _ logger: Logger) {
        do throws(LibraryError) {
            let imports = try library.takeImports()
            if !imports.taken.isEmpty { logger.notice("imported into the library: \(imports.taken.count)") }
            for problem in imports.refused {
                logger.warning("not imported: \(problem.path): \(problem.reason)")
            }
        } catch {
            logger.warning("files cannot be imported into the library: \(error)")
        }
    }

    /// How much the library has and takes, as ``clean()`` has read it; `nil` before.
    private(set) var usage: (totals: LibraryTotals, free: UInt64)?

    /// Takes over imports, removes the files of deleted items, deletes what the limits no longer allow, and reads the
    /// usage. Called every 15 s.
    func clean() {
        guard !isClosed, !isCleaning else { return }
        guard let opening else { return begin() }
        isCleaning = true
        let (limits, logger) = (limits, logger)
        Task.detached { [self] in
            guard case .success(let library) = await opening.value else { return await cleaned(nil) }
            let done = try? await NIOThreadPool.singleton.runIfActive {
                Self.takeImports(of: library, logger)
                let removals = [
                    try library.purge(), try library.retain(limits, free: Int64(clamping: library.freeBytes())).removal,
                ]
                let totals = try library.totals().values.reduce(LibraryTotals()) { $0 + $1 }
                return (removals: removals, usage: (totals: totals, free: try library.freeBytes()))
            }
            for problem in (done?.removals ?? []).flatMap({ $0.problems.prefix(10) }) {
                logger.warning("a deleted file cannot be removed: \(problem.path): \(problem.reason)")
            }
            await cleaned(done?.usage)
        }
    }

    private func cleaned(_ usage: (totals: LibraryTotals, free: UInt64)?) {
        isCleaning = false
        if let usage { self.usage = usage }
    }

    private var limits: RetentionLimits {
        var limits = RetentionLimits()
        if configuration.libraryDays > 0 { limits.age = Int64(clamping: configuration.libraryDays) * 86_400_000_000 }
        func limit(_ value: Int) -> Int64? { value > 0 ? Int64(clamping: value) : nil }
        limits.bytes = limit(configuration.librarySize)
        limits.bytesPerDevice = limit(configuration.libraryDeviceSize)
        limits.bytesPerOwner = limit(configuration.libraryKeySize)
        limits.free = limit(configuration.libraryKeepFree)
        return limits
    }

    // MARK: Sessions

    /// Starts or stops the recording of a session, as its settings say.
    ///
    /// - Throws: ``Failure`` if there is no library. The session is then not recorded.
    func follow(_ session: Session) async throws(Failure) {
        guard session.request.record else { return await stop(session.id) }
        if let recorder = session.recorder, recorder.when != session.request.recordWhen { await stop(session.id) }
        let library: Library
        do {
            library = try await self.library().get()
            session.recordingProblem = nil
        } catch {
            session.recordingProblem = error.description
            throw error
        }
        // The former recording of the session completes its file first.
        await ending[session.id]?.value
        let number = await Self.nextNumber(of: session.recording, in: library)
        // Another call may have been faster, and the session may have ended.
        guard session.recorder == nil, session.request.record, session.isRunning, !isClosed else { return }
        let recorder = Recorder(
            plan(of: session, number: number),
            library: library,
            hasSound: session.device.sound != .off
        ) { [weak session, logger] change in
            Self.tell(change, of: session, logger)
        }
        recorded[session.id] = session
        session.begin(recorder)
    }

    /// Returns the number of the next file of a recording that a former run of the relay has begun, or 0.
    private nonisolated static func nextNumber(of recording: String?, in library: Library) async -> Int64 {
        guard let recording else { return 0 }
        let items = try? await NIOThreadPool.singleton.runIfActive { try library.recording(recording) }
        return (items?.map(\.facts.number).max() ?? -1) + 1
    }

    private func plan(of session: Session, number: Int64) -> RecordingWriter.Plan {
        let id = session.recording ?? UUID().uuidString.lowercased()
        session.recording = id
        var facts = ItemFacts(
            recording: id,
            number: number,
            device: session.device.name,
            session: session.id,
            sessionName: session.name,
            start: 1,
            anchor: 0,
            boot: RelayState.currentBoot
        )
        facts.labels = session.request.label.map { ["label": $0] } ?? [:]
        facts.fps = Double(session.request.fps)
        facts.owner = session.recordedBy
        return RecordingWriter.Plan(
            facts: facts,
            tracks: session.stream.tracks,
            epoch: session.epoch,
            when: session.request.recordWhen,
            sound: session.device.recordedSound,
            freeBytes: UInt64(clamping: configuration.libraryFree)
        )
    }

    /// Ends the recording of a session, and completes its file.
    func stop(_ id: SessionID) async {
        if let session = recorded.removeValue(forKey: id), let recorder = session.recorder {
            session.endRecording()
            ending[id] = Task.detached { await recorder.end() }
        }
        guard let task = ending[id] else { return }
        await task.value
        if ending[id] == task { ending[id] = nil }
    }

    /// Ends all recordings. None begins afterwards.
    ///
    /// A disk that hangs does not keep the relay from ending: the next run completes the files.
    func close() async {
        guard !isClosed else { return }
        isClosed = true
        await channel.close()
        for id in recorded.keys { Task { await stop(id) } }
        let deadline = NIODeadline.now() + Self.closingTime
        while !(recorded.isEmpty && ending.isEmpty), NIODeadline.now() < deadline {
            try? await Task.sleep(for: .milliseconds(20))
        }
        guard ending.isEmpty, case .success(let library)? = await opening?.value else { return }
        try? await NIOThreadPool.singleton.runIfActive { try library.close() }
    }

    private static func tell(_ change: RecordingFigures.Change, of session: Session?, _ logger: Logger) {
        switch change {
        case .began: session?.events.publish(.recordingChanged, state: "recording")
        case .gap: session?.events.publish(.recordingChanged, state: "gap")
        case .ended: session?.events.publish(.recordingChanged, state: "ended")
        case .failed(let failure):
            session?.events.publish(.recordingChanged, state: failure.word)
            let id = session.map { "session \($0.id)" } ?? "a session"
            logger.error("\(id) is not recorded: \(failure)")
        }
    }
}
