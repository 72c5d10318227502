import CommandSupport
@preconcurrency import Glibc
import HeliographAPI
import HeliographClient
import NIOCore

/// The bytes of an item, or of a part of it, which go on where the connection to the relay broke off.
struct ItemDownload: Sendable {
    /// How long a download waits for a lost relay.
    static let patience = Duration.seconds(600)
    /// The time between two tries.
    private static let pause = Duration.milliseconds(500)

    private let client: RelayClient
    private let item: String
    private let ask: @Sendable (_ range: String) async throws -> RelayClient.Part

    /// Creates the download of an item's file.
    init(of item: String, from client: RelayClient) {
        self.init(of: item, by: Routes.getLibraryFile, NoArguments(), from: client)
    }

    /// Creates the download of what a call returns.
    init<Arguments: Sendable>(
        of item: String,
        by call: Call<Arguments, Bytes>,
        _ query: Arguments,
        from client: RelayClient
    ) {
        (self.item, self.client) = (item, client)
        ask = { try await client.part($0, of: item, call, query) }
    }

    /// Asks for a range, and waits while the relay cannot be reached.
    func part(_ range: String) async throws -> RelayClient.Part {
        let loss = Loss()
        return try await loss.outlast { try await ask(range) }
    }

    /// Passes bytes to `consume` with their offsets, until all have come. If the item's bytes change meanwhile, they
    /// are passed again from the beginning.
    ///
    /// - Parameter begin: Called before the first bytes come, also before they come again.
    func all(
        begin: () throws -> Void,
        to consume: (ByteBuffer, _ offset: UInt64) async throws -> Void
    ) async throws {
        var (next, tag): (UInt64, String?) = (0, nil)
        let loss = Loss()
        var isWhole = false
        while !isWhole {
            isWhole = try await loss.outlast {
                let part: RelayClient.Part
                do {
                    part = try await ask("bytes=\(next)-")
                } catch let error as RelayError where error.problem == .badRange {
                    // An interrupted recording may have become shorter when it was completed.
                    guard next > 0 else { throw CommandError.failed("recording \(item) has no pictures yet") }
                    next = 0
                    return false
                }
                if next > 0, part.tag != tag {
                    next = 0
                    return false
                }
                guard part.first == next else { throw CommandError.otherRange(of: item) }
                if next == 0 { try begin() }
                tag = part.tag
                for try await bytes in part.body {
                    try await consume(bytes, next)
                    next += UInt64(bytes.readableBytes)
                    loss.end()
                }
                guard next == part.total else { throw RelayError(.brokenOff, "the recording came incomplete") }
                return true
            }
        }
    }

    /// An error of what takes the bytes. Another try would not help.
    private struct NotTaken: Error {
        let error: any Error
    }

    /// Passes a part's bytes to `consume`, and goes on where they break off.
    ///
    /// - Throws: ``CommandError``, also if the item has changed since, and any error if `consume` throws.
    func rest(of part: RelayClient.Part, to consume: (ByteBuffer) async throws -> Void) async throws {
        var (current, next): (RelayClient.Part?, UInt64) = (part, part.first)
        let loss = Loss()
        while next <= part.last {
            try await loss.outlast {
                let some: RelayClient.Part
                if let current { some = current } else { some = try await ask("bytes=\(next)-\(part.last)") }
                current = nil
                guard some.first == next, some.last == part.last, some.tag == part.tag else {
                    throw CommandError.otherRange(of: item)
                }
                for try await bytes in some.body {
                    do { try await consume(bytes) } catch { throw NotTaken(error: error) }
                    next += UInt64(bytes.readableBytes)
                    loss.end()
                }
                guard next > part.last else { throw RelayError(.brokenOff, "the recording came incomplete") }
            }
        }
    }

    /// A time in which the relay is lost.
    private final class Loss {
        private var begin: ContinuousClock.Instant?
        private var isTold = false

        /// Ends it: the relay has sent something.
        func end() { (begin, isTold) = (nil, false) }

        /// Runs `body` again while it fails because the relay is lost. Says so once, when the second try fails, too: a
        /// player that pauses makes a connection end.
        func outlast<Value>(_ body: () async throws -> Value) async throws -> Value {
            while true {
                do {
                    return try await body()
                } catch let error as RelayError where error.isLossOfRelay {
                    let now = ContinuousClock.now
                    if begin != nil, !isTold {
                        fputs("heliograph: \(error); it goes on when the relay is back\n", stderr)
                        isTold = true
                    }
                    let begin = begin ?? now
                    self.begin = begin
                    guard now - begin < ItemDownload.patience else { throw error }
                    try await Task.sleep(for: ItemDownload.pause)
                }
            }
        }
    }
}

extension CommandError {
    fileprivate static func otherRange(of item: String) -> CommandError {
        .failed("recording \(item) has changed meanwhile: begin again")
    }
}
