import Foundation
import Library
import Synchronization
import TestSupport

/// A clock that moves when a test says so.
final class ManualClock: Sendable {
    private let reading = Mutex(ClockReading(wall: 1_700_000_000_000_000, monotonic: 5_000_000_000, boot: "boot-1"))

    var read: @Sendable () -> ClockReading { { self.reading.withLock { $0 } } }

    /// Lets time pass on both clocks, in s.
    func advance(_ seconds: Int64) {
        reading.withLock {
            $0.wall += seconds * 1_000_000
            $0.monotonic += seconds * 1_000_000_000
        }
    }

    /// Steps the wall clock alone, in s.
    func step(_ seconds: Int64) { reading.withLock { $0.wall += seconds * 1_000_000 } }

    /// Restarts the machine, which was off for some seconds.
    func restart(off seconds: Int64) {
        reading.withLock {
            $0.wall += seconds * 1_000_000
            $0.monotonic = 1_000_000_000
            $0.boot += "'"
        }
    }
}

/// A library in a temporary folder, with files that contain their facts as text.
struct TestLibrary {
    struct Unreadable: Error, CustomStringConvertible { let description = "It is not an MP4 file." }

    static let start: Int64 = 1_700_000_000_000_000
    static let second: Int64 = 1_000_000

    let scratch: Scratch
    let clock = ManualClock()
    var folder: String { scratch.folder.path }

    init() throws { scratch = try Scratch() }

    func open() throws -> Library { try Library(folder: folder, clock: clock.read) }

    /// Opens the library, passes it to `body`, and closes it.
    func with<Value>(_ body: (Library) throws -> Value) throws -> Value {
        let library = try open()
        defer { try? library.close() }
        return try body(library)
    }

    /// Returns facts of an item that starts `time` seconds after the start.
    static func facts(
        _ time: Int64,
        device: String = "phone-1",
        session: UInt32 = 1,
        name: String? = nil,
        labels: [String: String] = [:],
        owner: String? = nil,
        bytes: Int64 = 1000,
        isComplete: Bool = true
    ) -> ItemFacts {
        let digits = String(time)
        return ItemFacts(
            recording: "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits,
            number: 0,
            device: device,
            session: session,
            sessionName: name,
            labels: labels,
            owner: owner,
            start: start + time * second,
            anchor: time * 1_000_000_000,
            boot: "boot-1",
            duration: 10 * second,
            bytes: bytes,
            tracks: [ItemFacts.Track(codec: "avc1.64001f", kind: "video")],
            width: 1080,
            height: 1920,
            fps: 29.97,
            gaps: [ItemFacts.Gap(start: 5, length: 6, reason: "source_lost")],
            keyframes: 7,
            isComplete: isComplete
        )
    }

    func url(_ path: String) -> URL { scratch.folder.appendingPathComponent(path) }

    func exists(_ path: String) -> Bool { FileManager.default.fileExists(atPath: url(path).path) }

    /// Writes any file of the library.
    func write(_ text: String, to path: String) throws {
        try FileManager.default.createDirectory(
            at: url(path).deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data(text.utf8).write(to: url(path))
    }

    /// Writes an item's file, whose size is that of the facts. Returns its path.
    @discardableResult
    func write(_ facts: ItemFacts, companions: [String] = []) throws -> String {
        let path = LibraryLayout.path(for: facts)
        let head = [
            facts.recording, "\(facts.number)", facts.device, "\(facts.session)", "\(facts.start)",
            "\(facts.isComplete)", "",
        ].joined(separator: "\n")
        try write(head + String(repeating: "x", count: Int(facts.bytes) - head.utf8.count), to: path)
        for ending in companions { try write("x", to: LibraryLayout.companion(of: path, ending: ending)) }
        return path
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(at: url(path)) }

    /// Reads what ``write(_:companions:)`` has written.
    static func inspect(_ path: String) throws -> ItemFacts {
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard lines.count == 7, let number = Int64(lines[1]), let session = UInt32(lines[3]),
            let start = Int64(lines[4])
        else { throw Unreadable() }
        return ItemFacts(
            recording: lines[0],
            number: number,
            device: lines[2],
            session: session,
            start: start,
            anchor: 0,
            boot: "",
            duration: 9 * second,
            bytes: Int64(text.utf8.count),
            isComplete: lines[5] == "true"
        )
    }
}

extension Library {
    /// Adds an item that is complete, without a file.
    @discardableResult
    func addComplete(_ facts: ItemFacts) throws -> Int64 {
        let id = try begin(facts, path: LibraryLayout.path(for: facts))
        try finish(id, facts)
        return id
    }

    /// Returns the ids of all pages of a query.
    func ids(_ query: ItemQuery = ItemQuery(), scope: DeviceScope = .all) throws -> [Int64] {
        var (query, ids) = (query, [Int64]())
        while true {
            let page = try items(query, scope: scope)
            ids += page.items.map(\.id)
            guard let next = page.next else { return ids }
            query.cursor = next
        }
    }
}
