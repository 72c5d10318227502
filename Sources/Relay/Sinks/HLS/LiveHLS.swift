import FoundationEssentials
import HeliographAPI
import Media
import NIOCore
import Packaging

/// A session as low-latency HLS, for all clients that ask for it.
///
/// It packages a part once, and keeps the last minute in memory. Its playlist goes back to the beginning of the
/// session's recording, of whose files older segments are made (``RecordedPast``). It is made when a client first asks,
/// and ends when none has asked for ``patience``.
@MediaLoop
final class LiveHLS: Sink {
    /// What a client asks for.
    enum File: Equatable {
        case initialization(Int)
        case media(LivePlaylist.Place)
    }

    /// What a client gets.
    enum Content {
        case bytes([ByteBuffer])
        /// A segment that is only in the recording.
        case recorded(RecordedPast)
    }

    /// How long it goes on without a client.
    private static let patience = TimeAmount.seconds(30)
    /// The longest time between keyframes, so that segments are shorter than the playlist says.
    private static let keyframeInterval = TimeAmount.seconds(4)
    /// The shortest segment, in µs: a keyframe that comes sooner begins only a part.
    private static let shortest: Int64 = 1_500_000
    /// About how long a part lasts, in µs.
    private static let partSpan: Int64 = 200_000
    /// The most bytes of all segments.
    private static let mostBytes = 48 << 20

    /// Its name in addresses, which no other run of it has.
    let run: String
    /// The codec in which it has the device's sound; `nil` for none.
    let sound: SoundCodec?
    private let tracks: [MediaTrack]
    /// The monotonic instant of PTS 0, in ns.
    private let epoch: UInt64
    /// Returns since which PTS all its tracks are recorded, in µs; `nil` if nothing is.
    private let recordedSince: @MediaLoop @Sendable () -> Int64?
    /// How long a picture and a part last, in µs.
    private let (picture, part): (Int64, Int64)
    private var muxer: FragmentedMP4
    private var silence: SilenceFill?
    private var playlist: LivePlaylist
    /// The initialization segments by their numbers, and the parts of each segment in memory.
    private var (initializations, parts): ([ByteBuffer], [[ByteBuffer]]) = ([], [])
    private var bytes = 0
    /// The part that is being made: its units, its first PTS, and whether it begins with a keyframe.
    private var group = FragmentedMP4.Group<ByteBuffer>()
    private var (partStart, isIndependent): (Int64?, Bool) = (nil, false)
    /// The PTS at which the current segment begins, and of the last picture.
    private var (segmentStart, lastPicture): (Int64?, Int64) = (nil, 0)
    private var lastAsked = NIODeadline.now()
    private let waiters = Waiters<Void>()
    private var needsKeyframe = true

    /// - Parameters:
    ///   - tracks: The session's video, and the device's sound if `sound` is not `nil`.
    ///   - fps: Pictures per second.
    ///   - epoch: The monotonic instant of PTS 0, in ns.
    ///   - recordedSince: Returns since which PTS all its tracks are recorded, in µs; `nil` if nothing is.
    init(
        tracks: [MediaTrack],
        sound: SoundCodec?,
        fps: Int,
        epoch: UInt64,
        recordedSince: @escaping @MediaLoop @Sendable () -> Int64?
    ) {
        (self.tracks, self.sound, self.epoch, self.recordedSince) = (tracks, sound, epoch, recordedSince)
        run = String(NIODeadline.now().uptimeNanoseconds, radix: 36)
        picture = 1_000_000 / Int64(clamping: max(1, fps))
        part = max(1, (Self.partSpan + picture / 2) / picture) * picture
        muxer = FragmentedMP4(tracks: tracks, fps: max(1, fps), place: .everywhere)
        silence = tracks.count > 1 ? sound.map { SilenceFill($0) } : nil
        playlist = LivePlaylist(partTarget: part + part / 10)
    }

    // MARK: Sink

    var demand: Demand {
        guard !hasEnded else { return .none }
        return Demand(
            video: .all,
            audio: Set([tracks.count > 1 ? sound : nil].compactMap(\.self)),
            keyframeWithin: Self.keyframeInterval
        )
    }

    var starves: Bool { needsKeyframe }

    /// Takes what a viewer who joins now would get first: the cached group.
    func begin(with units: [MediaUnit]) { for unit in units { deliver(unit) } }

    func take(_ item: StreamItem) {
        switch item {
        case .unit(let unit): deliver(unit)
        case .end: end()
        case .feed, .sourceLost, .tracks: break
        }
    }

    private func deliver(_ unit: MediaUnit) {
        guard let track = tracks.first(where: { $0.id == unit.header.track }) else { return }
        guard let sound = tracks.first(where: { $0.kind == .audio }) else { return add(unit, of: track) }
        guard let filled = silence?.packets(before: unit, of: sound) else { return }
        for packet in filled { add(packet, of: sound) }
        add(unit, of: track)
    }

    private func add(_ unit: MediaUnit, of track: MediaTrack) {
        guard track.kind == .video else {
            // Sound before the first picture is left out.
            guard segmentStart != nil else { return }
            _ = try? muxer.add(EncodedUnit(unit.header, unit.bytes), to: &group)
            return
        }
        guard unit.isKey || !needsKeyframe else { return }
        if unit.isKey || partStart.map({ unit.pts - $0 > part }) ?? false { endPart(at: unit.pts) }
        let changes: Bool
        do {
            changes = try muxer.add(EncodedUnit(unit.header, unit.bytes), to: &group)
        } catch {
            // What refers to this picture cannot be decoded.
            needsKeyframe = true
            return
        }
        if unit.isKey { beginSegment(with: unit, changes: changes) }
        (needsKeyframe, lastPicture) = (false, unit.pts)
        if partStart == nil { (partStart, isIndependent) = (unit.pts, unit.isKey) }
        if let partStart, unit.pts - partStart + picture + picture / 2 >= part { endPart(at: unit.pts + picture) }
    }

    /// Begins a segment with a keyframe, unless the current one has only just begun.
    private func beginSegment(with unit: MediaUnit, changes: Bool) {
        if let segmentStart {
            guard changes || unit.pts - segmentStart >= Self.shortest else { return }
            drop(playlist.endSegment(lasting: unit.pts - segmentStart, recordedSince: recordedSince()))
        }
        if changes, let initialization = muxer.initialization {
            initializations.append(ByteBuffer(bytes: initialization.bytes))
        }
        if segmentStart == nil { addRecorded(until: unit.pts) }
        segmentStart = unit.pts
        playlist.beginSegment(map: initializations.count - 1, date: date(of: unit.pts), at: unit.pts)
        parts.append([])
        waiters.resume(with: ())
    }

    /// Ends the part that is being made.
    ///
    /// - Parameter pts: When its last picture ends.
    private func endPart(at pts: Int64) {
        guard let start = partStart, !group.isEmpty, !parts.isEmpty else { return }
        let made: ByteBuffer = muxer.muxed(group)
        group = .init()
        playlist.add(.init(duration: pts - start, isIndependent: isIndependent))
        parts.update(at: parts.count - 1) { $0.append(made) }
        bytes += made.readableBytes
        if bytes > Self.mostBytes { drop(playlist.release(1, recordedSince: recordedSince())) }
        partStart = nil
        waiters.resume(with: ())
    }

    /// Adds what was recorded before the first picture, in segments as long as may be.
    private func addRecorded(until end: Int64) {
        let span = Int64(clamping: LivePlaylist.target) * 1_000_000
        guard let since = recordedSince(), since < end else { return }
        var start = max(since, end - LivePlaylist.longest)
        while start < end {
            let length = min(span, end - start)
            playlist.addRecorded(map: 0, date: date(of: start), at: start, lasting: length)
            start += length
        }
    }

    /// Drops the bytes of the oldest segments in memory.
    private func drop(_ count: Int) {
        for part in parts[in: Range(from: 0, to: count)].joined() { bytes -= part.readableBytes }
        parts.removeLeading(count)
    }

    private func date(of pts: Int64) -> String {
        let age = (Int64(clamping: NIODeadline.now().uptimeNanoseconds) - Int64(clamping: epoch)) / 1000 - pts
        return Date(timeIntervalSinceNow: -Double(age) / 1e6).apiText
    }

    /// Whether it wants nothing any more.
    var hasEnded: Bool { playlist.isEnded }

    /// Ends the stream for all clients.
    func end() {
        endPart(at: lastPicture + picture)
        if let segmentStart {
            drop(playlist.endSegment(lasting: lastPicture + picture - segmentStart, recordedSince: recordedSince()))
        }
        playlist.end()
        waiters.resume(with: ())
    }

    // MARK: Clients

    /// Whether a client has asked lately.
    var isAsked: Bool { NIODeadline.now() - lastAsked < Self.patience }

    /// Returns the playlist, when it has a place.
    ///
    /// - Parameters:
    ///   - place: What the client waits for; `nil` for a whole segment, without which many players give up.
    ///   - hasPast: Whether the client may see what is only in the recording.
    /// - Returns: `nil` if the place does not come in time.
    func playlist(
        with place: LivePlaylist.Place?,
        skips: Bool,
        hasPast: Bool,
        until deadline: NIODeadline
    ) async -> String? {
        let isThere = await wait(until: deadline) { playlist in
            place.map(playlist.has) ?? playlist.isPlayable(hasPast: hasPast)
        }
        guard isThere else { return nil }
        return playlist.text(run: run, skips: skips, hasPast: hasPast)
    }

    /// Whether nobody should wait for a place, because it is too far in the future.
    func isFar(_ place: LivePlaylist.Place) -> Bool { playlist.isFar(place) }

    /// Returns a file's content, when it is there.
    ///
    /// - Returns: `nil` if it is gone, or does not come in time.
    func content(of file: File, until deadline: NIODeadline) async -> Content? {
        lastAsked = .now()
        switch file {
        case .initialization(let number):
            return initializations[at: number].map { .bytes([$0]) }
        case .media(let place):
            guard await wait(until: deadline, { $0.has(place) }), let first = playlist.segments.first?.number,
                place.segment >= first
            else { return nil }
            let number = Int(clamping: place.segment - first)
            if number < playlist.released { return place.part == nil ? recorded(number) : nil }
            let found = parts[at: number - playlist.released]
            guard let part = place.part else { return found.map { .bytes($0) } }
            return found?[at: part].map { .bytes([$0]) }
        }
    }

    private func recorded(_ number: Int) -> Content? {
        guard let segment = playlist.segments[at: number], let duration = segment.duration, duration > 0 else {
            return nil
        }
        let range = Range(from: segment.start, to: segment.start + duration)
        return .recorded(RecordedPast(range: range, number: segment.number, tracks: tracks, epoch: epoch))
    }

    /// Waits until the playlist has what a client wants, or ends.
    private func wait(until deadline: NIODeadline, _ isThere: (LivePlaylist) -> Bool) async -> Bool {
        lastAsked = .now()
        while !isThere(playlist), !playlist.isEnded {
            let ticket = waiters.ticket()
            guard await waiters.wait(ticket, until: deadline) != nil else { return false }
        }
        return isThere(playlist)
    }
}
