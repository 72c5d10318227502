import CSDL

/// Why the viewer cannot show or play, for people.
package struct ViewerError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    /// Creates the error of SDL's last failure.
    static func ofSDL(_ deed: String) -> ViewerError {
        let reason = String(cString: SDL_GetError())
        return ViewerError(reason.isEmpty ? deed : "\(deed): \(reason)")
    }
}
