/// Code of ours that takes bytes from outside, and what must hold whatever they are. docs/testing.md lists them.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    /// Also of its folder in Tests/Corpus.
    package let name: String
    /// Words that inputs are made of, for those that make inputs.
    package let words: [String]
    /// Feeds the code an input. What it throws does not hold; it may trap as well.
    package let check: @Sendable ([UInt8]) throws -> Void

    package var description: String { name }

    init(_ name: String, words: [String] = [], check: @escaping @Sendable ([UInt8]) throws -> Void) {
        self.name = name
        self.words = words
        self.check = check
    }

    package static let all: [FuzzTarget] = [
        .wire, .heartbeats, .feed, .rest, .scrcpy, .webSocket, .json, .query, .credentials, .annexB, .h264, .h265,
        .packaging, .fragments, .configuration, .environment, .keys, .state, .snapshots,
    ]
}

/// What did not hold.
package struct Violation: Error, CustomStringConvertible {
    package let description: String
}

func require(_ condition: Bool, _ statement: @autoclosure () -> String) throws(Violation) {
    guard condition else { throw Violation(description: statement()) }
}

/// Leaves the refusals of hostile input out, which are as they should be.
func refusable<Value>(_ body: () throws -> Value) throws(Violation) -> Value? {
    do {
        return try body()
    } catch let violation as Violation {
        throw violation
    } catch {
        return nil
    }
}
