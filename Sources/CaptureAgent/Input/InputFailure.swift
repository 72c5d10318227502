/// Why a backend did not inject an event.
package enum InputFailure: Error, Equatable {
    /// The backend has no such device, or no such character; says which.
    case unsupported(String)
    /// The desktop is not as in the picture that a place is from.
    case moved(String)
    /// The desktop is gone or refuses; says what to do.
    case lost(String)
}

extension InputFailure {
    /// Runs `body` and translates what it throws.
    static func explaining<Value>(_ body: () throws(SourceError) -> Value) throws(InputFailure) -> Value {
        do throws(SourceError) {
            return try body()
        } catch {
            throw .lost(error.detail)
        }
    }
}
