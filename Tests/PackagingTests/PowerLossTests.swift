import Media
import Packaging
import TestSupport
import Testing

/// A file on a disk that forgets what was not synchronized.
private struct Disk {
    private static let sector = 512

    /// What is on the disk for certain.
    private(set) var synchronized: [UInt8] = []
    /// The writes since then.
    private var pending: [FileWrite] = []

    mutating func write(_ write: FileWrite) { pending.append(write) }

    mutating func synchronize() {
        for write in pending { Self.apply(write.bytes[...], at: Int(write.offset), to: &synchronized) }
        pending = []
    }

    /// Returns what may be on the disk after a loss of power: any sectors of the pending writes, in any order.
    ///
    /// Zeros are in place of the others if the file had already grown.
    func lost(_ generator: inout SeededGenerator) -> [UInt8] {
        var file = synchronized
        if Bool.random(using: &generator), let last = pending.last {
            let grown = max(file.count, Int.random(in: 0...(Int(last.offset) + last.bytes.count), using: &generator))
            file += Array(repeating: 0, count: grown - file.count)
        }
        for write in pending.shuffled(using: &generator) {
            var (place, rest) = (Int(write.offset), write.bytes[...])
            while !rest.isEmpty {
                let piece = rest.prefix(Self.sector - place % Self.sector)
                if Bool.random(using: &generator) { Self.apply(piece, at: place, to: &file) }
                rest = rest.dropFirst(piece.count)
                place += piece.count
            }
        }
        return file
    }

    private static func apply(_ bytes: ArraySlice<UInt8>, at place: Int, to file: inout [UInt8]) {
        if file.count < place + bytes.count { file += Array(repeating: 0, count: place + bytes.count - file.count) }
        file.replaceSubrange(place..<(place + bytes.count), with: bytes)
    }
}

@Suite("After a loss of power")
struct PowerLossTests {
    @Test("a recording has all that was synchronized, unharmed, and can be completed", arguments: 0..<40)
    func everything(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var movie = HybridMovie<[UInt8]>(tracks: [.video(.h264)], fps: 30, place: .sampleEntry, note: [1, 2, 3])
        var (disk, whole, certain) = (Disk(), [UInt8](), 0)
        /// Checks that nothing is lost but what the last writes brought.
        func check() throws {
            for _ in 0..<8 {
                let file = disk.lost(&generator)
                let scan: RecordingScan
                do {
                    scan = try RecordingScan(size: UInt64(file.count)) { offset, count in
                        Array(file.dropFirst(Int(clamping: offset)).prefix(count))
                    }
                } catch {
                    #expect(certain == 0, "\(error)")
                    continue
                }
                #expect(scan.size >= UInt64(certain), "seed \(seed)")
                let samples = try #require(scan.index.video?.samples)
                for piece in samples.places(of: 0..<samples.count) {
                    let range = Int(piece.offset)..<Int(piece.offset + piece.length)
                    #expect(file[range] == whole[range], "seed \(seed): a damaged picture")
                }
            }
        }
        var pts: Int64 = 0
        for fragment in 0..<12 {
            for picture in 0..<Int.random(in: 1...20, using: &generator) {
                var unit = fragment % 4 == 0 && picture == 0 ? Sample.keyframe(pts: pts) : Sample.predicted(pts: pts)
                unit.bytes += (0..<Int.random(in: 0...900, using: &generator)).map { _ in 0xAA }
                try movie.append(unit)
                pts += 33_333
            }
            if fragment == 5 { movie.append(note: [4, 5]) }
            let start = UInt64(whole.count)
            whole += movie.takeBytes()
            disk.write(FileWrite(offset: start, bytes: Array(whole[Int(start)...])))
            try check()
            disk.synchronize()
            certain = whole.count
            guard let told = movie.duration(at: pts + 500_000) else { continue }
            disk.write(told)
            try check()
            disk.synchronize()
        }
        for step in movie.ending(at: pts) {
            disk.write(step)
            try check()
            disk.synchronize()
        }
        let complete = disk.synchronized
        let scan = try RecordingScan(size: UInt64(complete.count)) { offset, count in
            Array(complete.dropFirst(Int(clamping: offset)).prefix(count))
        }
        #expect(scan.isComplete && scan.index.notes == [[1, 2, 3], [4, 5]])
    }
}
