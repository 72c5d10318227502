/// A program that writes a picture of the screen to its standard output: PNG, JPEG or PPM.
package struct ScreenshotCommand: Sendable, Equatable {
    /// The program, a path or a name in PATH, and its arguments. No shell reads them.
    package var words: [String]
    /// How long it may take for one picture, ns.
    package var timeout: UInt64

    package init(words: [String], timeout: UInt64) {
        self.words = words
        self.timeout = timeout
    }
}
