package import Wire

/// A way to a desktop's clipboard. Owned by one thread.
///
/// What was set is handed to programs that paste while ``serve(until:)`` or another call runs. Every wait for another
/// program is bounded.
package protocol ClipboardBackend: AnyObject {
    /// Puts content into the clipboard, in place of what it has.
    ///
    /// - Parameter stop: Ends waits.
    func set(_ content: ClipboardContent, stop: Event) throws(ClipboardFailure)
    /// Returns what the clipboard has. The bytes may be of another kind than their program says.
    ///
    /// - Parameter stop: Ends waits.
    /// - Throws: `refused`, with `empty` if the clipboard has no content of that kind.
    func get(_ kind: ClipboardContent.Kind, stop: Event) throws(ClipboardFailure) -> ClipboardContent
    /// Serves programs that paste until one of `events` is set.
    func serve(until events: [Event]) throws(ClipboardFailure)
    /// Ends the connection. Must be called once.
    func close()
}

/// Why a backend did not do what an order asks for.
package enum ClipboardFailure: Error, Equatable {
    /// The backend can be used further.
    case refused(ClipboardReport.Refusal, String)
    /// The desktop is gone or refuses; says what to do.
    case lost(String)

    static let stopped = ClipboardFailure.refused(.failed, "The agent is ending.")

    static let silent = ClipboardFailure.refused(
        .timeout,
        "The program that has the clipboard's content does not hand it over."
    )

    static func empty(_ kind: ClipboardContent.Kind) -> ClipboardFailure {
        .refused(.empty, kind == .text ? "The clipboard has no text." : "The clipboard has no PNG image.")
    }

    static func tooLarge(_ kind: ClipboardContent.Kind) -> ClipboardFailure {
        .refused(.tooLarge, "The clipboard's content has more than \(kind.maximumByteCount) bytes.")
    }

    /// Runs `body` and translates what it throws.
    static func explaining<Value>(_ body: () throws(SourceError) -> Value) throws(ClipboardFailure) -> Value {
        do throws(SourceError) {
            return try body()
        } catch {
            throw .lost(error.detail)
        }
    }
}

extension ClipboardContent.Kind {
    /// The MIME types of the kind, the best first. Programs copy and paste text under several.
    package var types: [String] {
        switch self {
        case .text: ["text/plain;charset=utf-8", "UTF8_STRING", "text/plain"]
        case .png: ["image/png"]
        }
    }
}
