import FoundationEssentials
import SystemPackage

import func Glibc.fsync
import func Glibc.rename

/// The file that a relay's state is kept in: JSON, readable by its user alone, for it holds the link token.
package struct StateFile: Sendable {
    /// Why a state cannot be read or written.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        case unreadable(path: String, reason: String)
        case damaged(path: String, reason: String)
        case otherVersion(path: String, version: Int)
        case unwritable(path: String, reason: String)

        package var description: String {
            switch self {
            case .unreadable(let path, let reason): "the state file \(path) cannot be read: \(reason)"
            case .damaged(let path, let reason): "the state file \(path) is damaged, and left out: \(reason)"
            case .otherVersion(let path, let version):
                "the state file \(path) is of version \(version), not \(RelayState.currentVersion), and left out"
            case .unwritable(let path, let reason): "the state file \(path) cannot be written: \(reason)"
            }
        }
    }

    private struct Version: Decodable {
        var version: Int
    }

    private let path: FilePath

    package init(path: String) { self.path = FilePath(path) }

    /// The state; nil when none has been kept.
    package func read() throws(Failure) -> RelayState? {
        let data: Data
        do {
            data = try Data(contentsOf: URL(filePath: path.string))
        } catch let error as CocoaError where error.code == .fileReadNoSuchFile {
            return nil
        } catch {
            throw .unreadable(path: path.string, reason: "\(error)")
        }
        do {
            let version = try JSONDecoder().decode(Version.self, from: data).version
            guard version == RelayState.currentVersion else {
                throw Failure.otherVersion(path: path.string, version: version)
            }
            return try JSONDecoder().decode(RelayState.self, from: data)
        } catch let failure as Failure {
            throw failure
        } catch {
            throw .damaged(path: path.string, reason: "\(error)")
        }
    }

    /// Puts `state` in the file's place, all at once: who reads finds the old one or the new one whole.
    package func write(_ state: RelayState) throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        let new = FilePath(path.string + ".new")
        do {
            let bytes = Array(try encoder.encode(state))
            try FileManager.default.createDirectory(
                atPath: path.removingLastComponent().string,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            // What a relay left that was killed while it wrote may have other permissions by now.
            try? FileManager.default.removeItem(atPath: new.string)
            let file = try FileDescriptor.open(
                new,
                .writeOnly,
                options: [.create, .exclusiveCreate],
                permissions: .ownerReadWrite
            )
            try file.closeAfter {
                try file.writeAll(bytes)
                guard fsync(file.rawValue) == 0 else { throw Errno.ioError }
            }
            guard rename(new.string, path.string) == 0 else { throw Errno.ioError }
        } catch {
            throw .unwritable(path: path.string, reason: "\(error)")
        }
    }
}
