/// A copy of a catalogue, or of what changed in it, on the way to another machine.
package struct CopiedCatalogue: Sendable {
    /// An SQLite database for ``CatalogueCopy/update(_:with:)``. It has no name, so it goes when it is closed.
    package let file: RecordingFile
    /// The moment that it shows.
    package let mark: String
}
