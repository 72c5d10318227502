package import Foundation

/// The stored inputs of each target: samples, and every input that has ever failed.
package enum Corpus {
    package static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Corpus")

    /// The inputs by file name.
    package static func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = folder.appendingPathComponent(target.name)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
            ($0, [UInt8](try Data(contentsOf: folder.appendingPathComponent($0))))
        }
    }
}
