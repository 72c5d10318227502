package import Library
package import SystemPackage

/// Why a recording cannot be written.
package enum RecordingFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The disk has too little free space.
    case diskFull
    /// The disk reports an error.
    case disk(Errno)
    case library(LibraryError)

    init(_ error: any Error) {
        switch error {
        case let error as LibraryError: self = .library(error)
        case Errno.noSpace, Errno.diskQuotaExceeded: self = .diskFull
        default: self = .disk(error as? Errno ?? .ioError)
        }
    }

    /// The word for it in reports and events.
    var word: String {
        switch self {
        case .diskFull: "disk_full"
        case .disk: "disk_error"
        case .library: "library_error"
        }
    }

    package var description: String {
        switch self {
        case .diskFull: "The disk is full: delete recordings or free space. The recording continues when there is room."
        case .disk(let error): "The disk reports an error: \(error). The recording is tried again every 5 s."
        case .library(let error): error.description
        }
    }
}
