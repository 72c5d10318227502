package import Packaging
package import SystemPackage

/// Completes the files of recordings that broke off, and reads what files say of themselves.
package enum RecordingRepair {
    package enum Failure: Error, CustomStringConvertible {
        case unreadable(Errno)
        case scan(RecordingScan.Failure)
        /// It has no note of a recorder.
        case foreign

        package var description: String {
            switch self {
            case .unreadable(let error): "It cannot be read: \(error)."
            case .scan(.notARecording), .foreign: "Heliograph did not record it."
            case .scan(.empty): "It has no whole second."
            case .scan(.unreadable): "The disk reports an error."
            }
        }
    }

    /// Returns the facts of the file at an absolute path, after completing it if it broke off.
    ///
    /// - Parameter completes: If not, the file stays as it is. So does one that has another name as well: it is an
    ///   original outside the library.
    package static func inspect(_ path: String, completes: Bool = true) throws(Failure) -> ItemFacts {
        let file: RecordingFile
        do throws(Errno) {
            file = try RecordingFile(reading: FilePath(path))
        } catch {
            throw .unreadable(error)
        }
        let scan: RecordingScan
        do {
            scan = try RecordingScan(size: file.length) { file.read(at: $0, count: $1) }
        } catch {
            throw .scan(error)
        }
        guard var facts = RecordingNote.facts(scan.index, bytes: file.length, isComplete: scan.isComplete) else {
            throw .foreign
        }
        guard completes, !scan.isComplete, file.names == 1 else { return facts }
        // If the file cannot be written, or the disk has no room for the index, it stays as it is, and plays.
        let writable = try? RecordingFile(opening: FilePath(path))
        if let writable, (try? writable.complete(scan.index.ending(at: scan.size), after: scan.size)) != nil {
            facts.isComplete = true
            facts.bytes = Int64(clamping: file.length)
        }
        return facts
    }
}
