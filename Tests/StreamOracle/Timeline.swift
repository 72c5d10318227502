package import Media

/// Compares the recordings of one session's viewers with each other.
package struct Timeline {
    private let codec: Codec
    /// The NAL units of each picture by its timestamp, and the first viewer that had it.
    private var pictures: [Int64: (units: [[UInt8]], viewer: String)] = [:]

    package init(codec: Codec) { self.codec = codec }

    /// Adds a viewer with the session's timestamps. A picture that differs from another viewer's is a fault.
    package mutating func add(_ recording: Recording, of viewer: String) -> [String] {
        var faults: [String] = []
        for (index, picture) in recording.pictures.enumerated() {
            guard let pts = picture.pts else { continue }
            let units = essence(of: picture)
            if let known = pictures[pts] {
                guard known.units != units else { continue }
                faults.append(
                    "Picture \(index) of \(viewer) is another one than that of \(known.viewer) at the same time."
                )
            } else {
                pictures[pts] = (units, viewer)
            }
        }
        return faults
    }

    /// Returns the pictures that some viewer had, but this one lacked between its first and its last.
    ///
    /// - Parameter recording: The recording of a viewer whose timestamps are the session's.
    package func gaps(in recording: Recording) -> [String] {
        let times = Set(recording.pictures.compactMap(\.pts))
        guard let first = times.min(), let last = times.max() else { return [] }
        return pictures.filter { ($0.key > first && $0.key < last) && !times.contains($0.key) }.sorted {
            $0.key < $1.key
        }
        .map { "The picture at \($0.key), which \($0.value.viewer) had, is left out." }
    }

    /// Whether the recording is a part of the session's pictures without a gap.
    ///
    /// - Parameter recording: The recording of a viewer without the session's timestamps.
    package func contains(_ recording: Recording) -> Bool {
        let all = pictures.sorted { $0.key < $1.key }.map(\.value.units)
        let part = recording.pictures.map(essence)
        guard let first = part.first, part.count <= all.count else { return part.isEmpty }
        return (0...(all.count - part.count)).contains { start in
            all[start] == first && all[start..<(start + part.count)].elementsEqual(part)
        }
    }

    /// Returns what formats leave unchanged: the NAL units except delimiters.
    private func essence(of picture: RecordedPicture) -> [[UInt8]] {
        ByteStream.units(in: picture.bytes).filter { !codec.isDelimiter($0[0]) }
    }
}
