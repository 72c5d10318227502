import Access
import Files
import FoundationEssentials
import SystemPackage

/// The file with a relay's state: JSON, readable only by its user, because it holds the link token.
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

    /// Longest file, bytes.
    private static let maximumSize = 16 << 20

    private let path: FilePath

    package init(path: String) { self.path = FilePath(path) }

    /// Reads the state; `nil` if none was kept.
    package func read() throws(Failure) -> RelayState? {
        let data: Data
        do {
            data = Data(try BoundedFile.read(path, atMost: Self.maximumSize))
        } catch Errno.noSuchFileOrDirectory {
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

    /// Replaces the file's contents with `state` in one step: a reader finds the old state or the new one, always
    /// complete.
    package func write(_ state: RelayState) throws(Failure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        do {
            let bytes = Array(try encoder.encode(state))
            try ReplacedFile.createFolder(of: path)
            try ReplacedFile.write(bytes, to: path)
        } catch {
            throw .unwritable(path: path.string, reason: "\(error)")
        }
    }
}
