import Foundation
import Media
import StreamOracle
import TestSupport

/// The faults in the streams of viewers.
struct RandomVerdict {
    /// The folder for streams with faults.
    private let folder: URL
    private(set) var faults: [String] = []
    /// The sums over all streams.
    private(set) var (pictures, keyframes, skips) = (0, 0, 0)
    private var faulty: Set<String> = []

    init(folder: URL) { self.folder = folder }

    /// Judges all viewers of one scene.
    ///
    /// - Parameter areComplete: Whether the relay dropped no picture for a slow viewer, so that all viewers have all.
    mutating func judge(_ viewers: [RecordingViewer], areComplete: Bool) throws {
        let records = viewers.map { (viewer: $0, recording: $0.recording) }
        for (viewer, recording) in records { judge(recording, of: viewer) }
        for (_, records) in Dictionary(grouping: records, by: { $0.viewer.session.id }) {
            compare(records.sorted { $0.viewer.name < $1.viewer.name }, areComplete: areComplete)
        }
        for (viewer, recording) in records where faulty.contains(viewer.name) { try keep(viewer, recording) }
    }

    private mutating func add(_ faults: [String], _ viewer: RecordingViewer) {
        guard !faults.isEmpty else { return }
        faulty.insert(viewer.name)
        // One fault usually causes others.
        let more = faults.count > 3 ? " And \(faults.count - 3) more." : ""
        self.faults.append("\(viewer.name): \(faults.prefix(3).joined(separator: " "))\(more) See \(path(of: viewer))")
    }

    // MARK: - One viewer

    private mutating func judge(_ recording: Recording, of viewer: RecordingViewer) {
        let codec = viewer.session.codec
        pictures += recording.pictures.count
        keyframes += recording.pictures.count { $0.isKeyframe == true }
        skips += recording.pictures.count(where: \.isSkip)
        var faults = recording.faults(codec: codec)
        // A decoder cannot judge an empty stream.
        if !recording.pictures.isEmpty { faults += Self.decode(recording, codec) }
        add(faults, viewer)
    }

    /// Returns the decoders' complaints, and how their pictures differ.
    private static func decode(_ recording: Recording, _ codec: Codec) -> [String] {
        var (faults, hashes) = ([String](), [[String]]())
        for decoder in PictureDecoder.allCases {
            do {
                hashes.append(try decoder.hashes(of: recording.pictures.map(\.bytes), codec: codec))
            } catch let failure as Tool.Failure {
                faults.append("The decoder \(decoder) fails: \(failure.messages.prefix(300))")
            } catch {
                faults.append("The decoder \(decoder) fails: \(error)")
            }
        }
        guard hashes.count == PictureDecoder.allCases.count else { return faults }
        for (decoder, hashes) in zip(PictureDecoder.allCases, hashes) where hashes.count != recording.pictures.count {
            faults.append("The decoder \(decoder) gives \(hashes.count) pictures of \(recording.pictures.count).")
        }
        if let place = zip(hashes[0], hashes[1]).enumerated().first(where: { $0.element.0 != $0.element.1 })?.offset {
            faults.append("Picture \(place): the decoders differ.")
        }
        for (place, picture) in recording.pictures.enumerated().dropFirst() where picture.isSkip {
            guard place < hashes[0].count, hashes[0][place] != hashes[0][place - 1] else { continue }
            faults.append("Picture \(place): it repeats the one before and looks otherwise.")
        }
        return faults
    }

    // MARK: - A session's viewers

    private mutating func compare(
        _ records: [(viewer: RecordingViewer, recording: Recording)],
        areComplete: Bool
    ) {
        guard let session = records.first?.viewer.session else { return }
        var timeline = Timeline(codec: session.codec)
        let timed = records.filter { Self.hasSessionTime($0.viewer) }
        for (viewer, recording) in timed { add(timeline.add(recording, of: viewer.name), viewer) }
        guard areComplete else { return }
        for (viewer, recording) in timed where recording.resyncs == 0 { add(timeline.gaps(in: recording), viewer) }
        guard session.hasWitness else { return }
        for (viewer, recording) in records where !Self.hasSessionTime(viewer) && !timeline.contains(recording) {
            add(["Its pictures are not among the session's."], viewer)
        }
    }

    /// Whether timestamps are those of the session, µs.
    private static func hasSessionTime(_ viewer: RecordingViewer) -> Bool {
        viewer.way.isWebSocket || viewer.way == .port && viewer.session.isPacketized
    }

    // MARK: - Files

    private func path(of viewer: RecordingViewer) -> String {
        folder.appendingPathComponent("\(viewer.name).\(viewer.session.codec.rawValue)").path
    }

    /// Keeps the stream, and the bytes as they came.
    private func keep(_ viewer: RecordingViewer, _ recording: Recording) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(recording.pictures.flatMap(\.bytes)).write(to: URL(fileURLWithPath: path(of: viewer)))
        try Data(viewer.rawBytes).write(to: folder.appendingPathComponent("\(viewer.name).raw"))
    }
}
