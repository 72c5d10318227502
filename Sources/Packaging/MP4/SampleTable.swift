import Media

/// The samples of a track: their times, sizes and places in a file (ISO/IEC 14496-12, 8.6 and 8.7).
package struct SampleTable: Sendable, Equatable {
    /// Samples that follow each other in the file without a gap.
    package struct Chunk: Sendable, Equatable {
        /// The number of its first sample, from 0.
        package let first: Int
        /// The offset of that sample in the file.
        package let offset: UInt64
    }

    /// The most samples of a track: a week at 30 a second. It bounds the memory that a hostile file takes.
    static let mostSamples = 20_000_000

    /// When each sample begins, in the track's time scale; increasing.
    package private(set) var times: [UInt64] = []
    /// The number of bytes of each sample.
    package private(set) var sizes: [UInt32] = []
    /// The numbers of the samples at which decoding can begin, from 0.
    package private(set) var syncs: [Int] = []
    package private(set) var chunks: [Chunk] = []

    package init() {}

    package var count: Int { times.count }
    package var isEmpty: Bool { times.isEmpty }

    /// Begins a chunk with the next sample.
    mutating func beginChunk(at offset: UInt64) { chunks.append(Chunk(first: count, offset: offset)) }

    /// Adds a sample to the last chunk.
    mutating func append(time: UInt64, size: UInt32, isSync: Bool) {
        if isSync { syncs.append(count) }
        times.append(time)
        sizes.append(size)
    }

    /// Returns the number of the last sync sample at or before `time`; the first one if none is.
    package func sync(before time: UInt64) -> Int? {
        let later = syncs.firstPlace { (times[at: $0] ?? .max) > time }
        return syncs[at: max(0, later &- 1)]
    }

    /// Returns the number of the first sample after `time`, or ``count``.
    package func first(after time: UInt64) -> Int { times.firstPlace { $0 > time } }

    /// Returns the places of the samples in `range`. Neighbours in the file are one piece.
    package func places(of range: Range<Int>) -> [FilePiece] {
        var pieces: [FilePiece] = []
        var place = max(0, chunks.firstPlace { $0.first > range.lowerBound } &- 1)
        while let chunk = chunks[at: place], chunk.first < range.upperBound {
            let end = chunks[at: place &+ 1]?.first ?? count
            let before = sizes[in: Range(from: chunk.first, to: min(range.lowerBound, end))]
            let wanted = sizes[in: Range(from: max(chunk.first, range.lowerBound), to: min(range.upperBound, end))]
            pieces.append(
                FilePiece(offset: chunk.offset &+ Self.total(before), length: Self.total(wanted)),
                joining: true
            )
            place &+= 1
        }
        return pieces
    }

    private static func total(_ sizes: ArraySlice<UInt32>) -> UInt64 { sizes.reduce(0) { $0 &+ UInt64(clamping: $1) } }

    /// Whether decoding can begin at a sample.
    func isSync(_ sample: Int) -> Bool {
        let place = syncs.firstPlace { $0 >= sample }
        return syncs[at: place] == sample
    }

    /// Adds `distance` to the offsets of all samples.
    mutating func move(by distance: UInt64) {
        chunks = chunks.map { Chunk(first: $0.first, offset: $0.offset &+ distance) }
    }

    // MARK: Boxes

    /// Writes the boxes of `stbl` after `stsd`.
    ///
    /// - Parameter end: When the last sample ends, in the track's time scale.
    func write(end: UInt64, to table: inout BoxWriter) {
        let durations = Self.runs(of: durations(end: end))
        table.fullBox("stts") { box in
            box.put(UInt32(clamping: durations.count))
            for run in durations {
                box.put(run.count)
                box.put(run.value)
            }
        }
        if syncs.count != count {
            table.fullBox("stss") { box in
                box.put(UInt32(clamping: syncs.count))
                for sync in syncs { box.put(UInt32(clamping: sync &+ 1)) }
            }
        }
        writeChunks(to: &table)
    }

    private func writeChunks(to table: inout BoxWriter) {
        let lengths = chunks.indices.map { place in
            UInt32(clamping: (chunks[at: place &+ 1]?.first ?? count) &- (chunks[at: place]?.first ?? 0))
        }
        var number: UInt32 = 1
        let runs = Self.runs(of: lengths)
        table.fullBox("stsc") { box in
            box.put(UInt32(clamping: runs.count))
            for run in runs {
                box.put(number)
                box.put(run.value)
                box.put(UInt32(1))  // sample_description_index
                number &+= run.count
            }
        }
        table.fullBox("stsz") { box in
            box.put(UInt32(0))  // Each sample has its own size.
            box.put(UInt32(clamping: count))
            for size in sizes { box.put(size) }
        }
        guard !isEmpty else { return table.fullBox("stco") { $0.zeros(4) } }
        table.fullBox("co64") { box in
            box.put(UInt32(clamping: chunks.count))
            for chunk in chunks { box.put(chunk.offset) }
        }
    }

    private func durations(end: UInt64) -> [UInt32] {
        times.indices.map { place in
            let (time, next) = (times[at: place] ?? 0, times[at: place &+ 1] ?? end)
            return UInt32(clamping: max(next, time) &- time)
        }
    }

    private static func runs(of values: [UInt32]) -> [(value: UInt32, count: UInt32)] {
        var runs: [(value: UInt32, count: UInt32)] = []
        for value in values {
            if let last = runs.last, last.value == value {
                runs[at: runs.count &- 1] = (value, last.count &+ 1)
            } else {
                runs.append((value, 1))
            }
        }
        return runs
    }
}

/// A piece of a file.
package struct FilePiece: Sendable, Equatable {
    package var offset: UInt64
    /// In bytes.
    package var length: UInt64

    package init(offset: UInt64, length: UInt64) { (self.offset, self.length) = (offset, length) }
}

extension [FilePiece] {
    /// Appends a piece; joins it with the last one if they are neighbours.
    mutating func append(_ piece: FilePiece, joining: Bool) {
        guard joining, let last, last.offset &+ last.length == piece.offset else { return append(piece) }
        self[at: count &- 1] = FilePiece(offset: last.offset, length: last.length &+ piece.length)
    }
}

extension Array {
    /// Returns the first place whose element fulfils `condition`, which all later ones fulfil, too; `count` if none
    /// does.
    fileprivate func firstPlace(where condition: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low &+ (high &- low) / 2
            guard let element = self[at: middle] else { return low }
            if condition(element) { high = middle } else { low = middle &+ 1 }
        }
        return low
    }
}
