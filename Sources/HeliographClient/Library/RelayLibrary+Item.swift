public import FoundationEssentials
import HeliographAPI
import NIOCore

extension RelayLibrary {
    /// An item of the library: one file of a recording, or of music, as it was when a call returned it.
    ///
    ///     let file = try FileHandle(forWritingTo: url)
    ///     for try await bytes in try await item.file() { try file.write(contentsOf: bytes) }
    ///
    /// Its calls throw ``RelayError`` with the code `unknown_item` once it is deleted.
    public struct Item: Sendable, Identifiable {
        public enum State: String, Sendable {
            case recording, complete
            /// The recording broke off, and could not be completed.
            case interrupted
            /// The file is gone.
            case missing
        }

        /// A time without new pictures, because something was lost. The last picture before it stays.
        public struct Gap: Sendable, Hashable {
            /// The time in the file.
            public let start: Duration
            public let duration: Duration
        }

        public let id: Int
        /// The recording that it belongs to.
        public let recording: String
        /// Its place in the recording, from 0.
        public let number: Int
        public let device: String
        /// The session's name; `nil` for none.
        public let name: String?
        public let labels: [String: String]
        /// `nil` for a state that this release does not know.
        public let state: State?
        /// When its first picture was taken.
        public let start: Date
        public let duration: Duration
        public let byteCount: UInt64
        /// Pixels; 0 without a picture.
        public let width: Int
        public let height: Int
        /// As of RFC 6381, such as `avc1.42C01F` and `opus`.
        public let codecs: [String]
        public let gaps: [Gap]
        /// Whether it is never deleted to make room.
        public let isPinned: Bool

        private let library: RelayLibrary

        init(_ report: LibraryItem, of library: RelayLibrary) {
            self.library = library
            (id, recording, number) = (report.id, report.recording, report.number)
            (device, name, labels) = (report.device, report.name, report.labels)
            state = State(rawValue: report.state)
            start = Date(apiText: report.start) ?? .distantPast
            duration = Self.time(report.seconds)
            byteCount = report.bytes
            (width, height) = (report.width, report.height)
            codecs = report.tracks.map(\.codec)
            gaps = report.gaps.map { Gap(start: Self.time($0.start), duration: Self.time($0.seconds)) }
            isPinned = report.pinned
        }

        /// A time that a relay tells, s: at most the longest that it takes.
        private static func time(_ seconds: Double) -> Duration { .seconds(max(0, min(seconds, 10_000_000))) }

        /// Returns its file: an MP4, or an MP3 of music. While it is being recorded, the file has what was written so
        /// far.
        public func file() async throws(RelayError) -> Bytes {
            try await bytes(of: Routes.getLibraryFile, NoArguments())
        }

        /// Returns a part of it, an MP4 that begins exactly at `start`. Nothing is encoded again.
        ///
        /// - Parameters:
        ///   - start: The time from the item's beginning.
        ///   - end: Likewise. It may be in a later item of the recording. `nil` for the item's end.
        /// - Throws: ``RelayError``: its code is `out_of_range` if nothing was recorded in that time, if another
        ///   program made the file, or if the picture's size or encoding changes in it. Then clip each item of the
        ///   recording.
        public func clip(from start: Duration = .zero, to end: Duration? = nil) async throws(RelayError) -> Bytes {
            var query = ClipQuery()
            (query.start, query.end) = (start.seconds, end?.seconds)
            return try await bytes(of: Routes.getLibraryClip, query)
        }

        /// Says whether it may be deleted to make room.
        @discardableResult
        public func pin(_ isPinned: Bool = true) async throws(RelayError) -> Item {
            var change = LibraryChange()
            change.pinned = isPinned
            return try await called(Routes.changeLibraryItem, change)
        }

        /// Sets labels by their names, which have no `=`; an empty value removes one. Others stay.
        @discardableResult
        public func label(_ labels: [String: String]) async throws(RelayError) -> Item {
            // The relay would take what follows it as part of the value.
            guard labels.keys.allSatisfy({ !$0.isEmpty && !$0.contains("=") }) else {
                throw RelayError(.badArgument, "a label needs a name without =")
            }
            var change = LibraryChange()
            change.labels = labels.map { "\($0.key)=\($0.value)" }.sorted()
            return try await called(Routes.changeLibraryItem, change)
        }

        /// Deletes it. ``restore()`` takes that back for 60 s.
        ///
        /// - Throws: ``RelayError``: its code is `item_in_use` while it is being recorded.
        public func delete() async throws(RelayError) {
            _ = try await called(Routes.deleteLibraryItem, NoArguments())
        }

        /// Takes back that it was deleted.
        public func restore() async throws(RelayError) {
            _ = try await called(Routes.restoreLibraryItem, NoArguments())
        }

        private func called<Arguments: Sendable>(
            _ call: Call<Arguments, LibraryItem>,
            _ arguments: Arguments
        ) async throws(RelayError) -> Item {
            let report = try await library.relay.answer(to: call, arguments, at: .item("\(id)")).report()
            return Item(report, of: library)
        }

        private func bytes<Arguments: Sendable>(
            of call: Call<Arguments, HeliographAPI.Bytes>,
            _ query: Arguments
        ) async throws(RelayError) -> Bytes {
            let answer = try await library.relay.stream(call, query, at: .item("\(id)"), "broke the download off")
            return Bytes(relay: library.relay, body: answer.body)
        }
    }

    /// The bytes of a file, as they come. They can be iterated once.
    public struct Bytes: AsyncSequence, Sendable {
        public typealias Element = [UInt8]
        public typealias Failure = RelayError

        /// Its end would break the download off.
        fileprivate let relay: RelayClient
        fileprivate let body: AnswerBody

        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(relay: relay, body: body.makeAsyncIterator())
        }

        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let relay: RelayClient
            fileprivate var body: AnswerBody.AsyncIterator

            public mutating func next(isolation actor: isolated (any Actor)?) async throws(RelayError) -> [UInt8]? {
                try await body.next(isolation: actor).map { Array($0.readableBytesView) }
            }

            public mutating func next() async throws(RelayError) -> [UInt8]? { try await next(isolation: #isolation) }
        }
    }
}
