import FoundationEssentials
import Media
package import Packaging

/// What a recording's file says of itself, as JSON in a box that players skip.
///
/// The first note is about the whole file, later ones about gaps. The catalogue can be rebuilt from them.
package enum RecordingNote {
    /// The note at the file's beginning. Fields as in ``ItemFacts``.
    package struct Beginning: Codable, Equatable {
        var recording: String
        var number: Int64
        var device: String
        var session: UInt32
        var sessionName: String?
        var labels: [String: String]
        var owner: String?
        var start: Int64
        var anchor: Int64
        var boot: String
        var fps: Double

        package init(_ facts: ItemFacts) {
            recording = facts.recording
            number = facts.number
            device = facts.device
            session = facts.session
            sessionName = facts.sessionName
            labels = facts.labels
            owner = facts.owner
            start = facts.start
            anchor = facts.anchor
            boot = facts.boot
            fps = facts.fps
        }

        var facts: ItemFacts {
            ItemFacts(
                recording: recording,
                number: number,
                device: device,
                session: session,
                sessionName: sessionName,
                labels: labels,
                owner: owner,
                start: start,
                anchor: anchor,
                boot: boot,
                fps: fps
            )
        }
    }

    /// A gap. Times are in µs from the file's beginning.
    package struct Gap: Codable, Equatable {
        var start: Int64
        var length: Int64
        var reason: String

        package init(_ gap: ItemFacts.Gap) { (start, length, reason) = (gap.start, gap.length, gap.reason) }
    }

    package static func bytes(_ note: some Encodable) -> [UInt8] {
        (try? JSONEncoder().encode(note)).map(Array.init) ?? []
    }

    /// Returns the facts of a file from its notes and samples; `nil` if it lacks the first note.
    static func facts(_ index: MovieIndex, bytes: UInt64, isComplete: Bool) -> ItemFacts? {
        let decoder = JSONDecoder()
        guard let first = index.notes.first,
            let beginning = try? decoder.decode(Beginning.self, from: Data(first))
        else { return nil }
        var facts = beginning.facts
        facts.update(from: index, bytes: bytes)
        facts.isComplete = isComplete
        facts.gaps = index.notes.dropFirst().compactMap { note in
            (try? decoder.decode(Gap.self, from: Data(note)))
                .map { ItemFacts.Gap(start: $0.start, length: $0.length, reason: $0.reason) }
        }
        return facts
    }
}

extension ItemFacts {
    /// Takes over what the file's samples say.
    package mutating func update(from index: MovieIndex, bytes: UInt64) {
        duration = Int64(clamping: index.end)
        self.bytes = Int64(clamping: bytes)
        keyframes = Int64(clamping: index.video?.samples.syncs.count ?? 0)
        tracks = index.tracks.map { Track(codec: $0.description.codec, kind: $0.description.kind.rawValue) }
        if let size = index.video?.description.pictureSize {
            (width, height) = (Int64(clamping: size.width), Int64(clamping: size.height))
        }
    }
}
