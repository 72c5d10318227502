/// Code that parses bytes from outside, and what must hold for any bytes. docs/design/testing.md lists the targets.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    /// The target's name, which is also its folder in Tests/Corpus.
    package let name: String
    /// Words that occur in inputs, for input generators.
    package let words: [String]
    /// Feeds an input to the code. A thrown error or a trap is a failure.
    package let check: @Sendable ([UInt8]) throws -> Void

    package var description: String { name }

    init(_ name: String, words: [String] = [], check: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.words = words
        self.check = check
    }

    package static let all: [FuzzTarget] = [
        .wire, .heartbeats, .feed, .rest, .scrcpy, .webSocket, .input, .json, .query, .credentials, .annexB, .h264,
        .h265, .packaging, .fragments, .recordings, .music, .movies, .configuration, .environment, .keys, .state,
        .snapshots,
    ]
}

/// What failed.
package struct Violation: Error, CustomStringConvertible {
    package let description: String
}

func require(_ condition: Bool, _ statement: @autoclosure () -> String) throws(Violation) {
    guard condition else { throw Violation(description: statement()) }
}

/// Ignores the refusals of hostile input, which are correct.
func refusable<Value>(_ body: () throws -> Value) throws(Violation) -> Value? {
    do {
        return try body()
    } catch let violation as Violation {
        throw violation
    } catch {
        return nil
    }
}
