/// Why the library refuses a call. Each description says what to do.
package enum LibraryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Another relay uses the folder.
    case inUse(folder: String)
    /// The folder, or a file in it, cannot be used.
    case folder(String, reason: String)
    /// A newer Heliograph wrote the catalogue, with the schema `found`; this one knows up to `known`.
    case newer(found: Int, known: Int)
    /// The file is not a catalogue, or SQLite finds it damaged.
    case damaged(String, reason: String)
    /// The catalogue cannot be written, for example because the disk is full.
    case storage(reason: String)
    case unknownItem(Int64)
    /// The item's file cannot be read.
    case file(String, reason: String)
    /// A value of the caller, or of a file, is beyond its limits. The sentence says which.
    case invalid(String)
    case badPath(String)
    case pathTaken(String)
    case isRecording(Int64)
    case notRecording(Int64)
    case badCursor(String)
    case badLimit(Int)

    package var description: String {
        switch self {
        case .inUse(let folder):
            "Another relay or command uses the library in '\(folder)'. Stop it, or choose another folder."
        case .folder(let path, let reason): "Cannot use '\(path)': \(reason)."
        case .newer(let found, let known):
            """
            The catalogue has schema \(found), but this version of Heliograph knows schemas up to \(known). Install \
            the newer version again. Or move the catalogue away: the relay then makes another one from the recordings, \
            without pins and edited labels.
            """
        case .damaged(let path, let reason):
            """
            The catalogue '\(path)' is damaged (\(reason)). Stop the relay, and move the file away or restore a backup. The \
            relay makes another catalogue from the recordings, without pins and edited labels.
            """
        case .storage(let reason):
            "The catalogue cannot be written (\(reason)). Check the disk's free space and the folder's permissions."
        case .unknownItem(let id): "There is no recording item \(id). It may have been deleted: list the items again."
        case .file(let path, let reason): "The file '\(path)' cannot be read: \(reason)."
        case .invalid(let fault): fault
        case .badPath(let path):
            "'\(path.shortened)' is not a path of the library. Use recordings/DEVICE/YYYY-MM-DD/NAME.mp4."
        case .pathTaken(let path): "The catalogue already has a file '\(path.shortened)'. Choose another name."
        case .isRecording(let id): "Item \(id) is being recorded. Stop the recording first."
        case .notRecording(let id): "Item \(id) is not being recorded."
        case .badCursor(let cursor):
            "Unknown cursor '\(cursor.shortened)'. Pass the `next` of a page, with the same order."
        case .badLimit(let limit): "The limit \(limit) is not from 1 to \(ItemQuery.mostItems)."
        }
    }
}
