import Media
import Wire

/// A picture as a viewer got it.
struct SeenPicture {
    /// The Annex B bytes.
    var bytes: [UInt8]
    /// Whether the format marks it as a keyframe; `nil` if the format does not tell.
    var isKey: Bool?
    /// The time in the format's unit; `nil` if the format does not tell it, or where it wraps around.
    var time: Int64?
    /// Whether the start codes differ from the agent's.
    var isRewritten = false
}

/// Compares what one viewer gets of a session with what the agents have sent.
///
/// A viewer begins with a keyframe. A picture is followed by the very next one of the same link or by a keyframe: a
/// picture never comes without its reference.
struct PictureOrder {
    private enum Last {
        case nothing
        /// It had no number.
        case unknown
        case number(UInt64)
    }

    private let session: SessionID
    private let codec: Codec
    private let ledger: UnitLedger
    /// Whether every picture must come after the first one.
    private let isStrict: Bool
    private var last = Last.nothing
    private var time: Int64?
    private(set) var pictures = 0

    init(session: SessionID, codec: Codec, ledger: UnitLedger, isStrict: Bool) {
        (self.session, self.codec, self.ledger, self.isStrict) = (session, codec, ledger, isStrict)
    }

    /// The number of the last picture that had one.
    private(set) var newest: UInt64 = 0

    mutating func take(_ picture: SeenPicture) throws(Fault) {
        pictures += 1
        if let next = picture.time {
            if let time { try expect(next > time, "a time that does not increase", "\(next) behind \(time)") }
            time = next
        }
        guard let place = Marker.find(in: picture.bytes), let entry = ledger[place.number] else {
            return try takeUnknown(picture)
        }
        try expect(entry.session == session, "a picture of another session", "\(entry.session) in \(session)")
        try expect(!entry.content.isBroken, "a malformed access unit at a viewer", "number \(entry.number)")
        // The relay rewrites a keyframe that it sends again.
        let isResent = ledger.rested.contains(session)
        if entry.content.isReal, !isResent {
            try expect(isSame(picture, entry), "a picture that is not as it was sent", "\(entry.number)")
        }
        if let isKey = picture.isKey {
            try expect(isKey == entry.isKey, "a picture whose kind is told wrong", "\(entry.number): key \(isKey)")
        }
        if !isResent { try expectOrder(entry) }
        last = .number(entry.number)
        newest = max(newest, entry.number)
    }

    private func expectOrder(_ entry: UnitLedger.Entry) throws(Fault) {
        switch last {
        case .nothing:
            try expect(entry.isKey, "a viewer that begins without a keyframe", "\(entry.number)")
        case .unknown:
            if entry.isKey { return }
            let before = entry.predecessor.flatMap { ledger[$0] }
            try expect(
                before?.content.isBroken != true,
                "a malformed access unit at a viewer",
                "before \(entry.number)"
            )
            try expect(before?.content.marker == nil, "a picture without its reference", "\(entry.number)")
        case .number(let number):
            let follows = entry.predecessor == number
            // The relay reads two links in any order.
            let isLater = entry.number > number || entry.link != ledger[number]?.link
            try expect(isLater, "a picture that comes again", "\(entry.number) behind \(number)")
            try expect(
                follows || entry.isKey,
                "a picture without its reference",
                "\(entry.number) behind \(number) instead of \(entry.predecessor ?? 0)"
            )
            if isStrict { try expect(follows, "pictures that are left out", "from \(number) to \(entry.number)") }
        }
    }

    private mutating func takeUnknown(_ picture: SeenPicture) throws(Fault) {
        try expect(!isStrict, "a picture that was never sent", "\(picture.bytes.prefix(64))")
        if case .nothing = last, let isKey = picture.isKey {
            try expect(isKey, "a viewer that begins without a keyframe", "with \(picture.bytes.prefix(64))")
        }
        last = .unknown
    }

    private func isSame(_ picture: SeenPicture, _ entry: UnitLedger.Entry) -> Bool {
        if isSame(picture, as: entry.content.bytes) { return true }
        return entry.content.changed.map { isSame(picture, as: $0) } ?? false
    }

    private func isSame(_ picture: SeenPicture, as sent: [UInt8]) -> Bool {
        if picture.bytes == sent || picture.bytes == Self.delimiter(codec) + sent { return true }
        return picture.isRewritten && picture.bytes == Self.lengthened(sent)
    }

    /// What a transport stream inserts before an access unit without a delimiter.
    private static func delimiter(_ codec: Codec) -> [UInt8] {
        codec == .h264 ? [0, 0, 0, 1, 0x09, 0xF0] : [0, 0, 0, 1, 0x46, 0x01, 0x50]
    }

    /// With start codes of four bytes.
    private static func lengthened(_ bytes: [UInt8]) -> [UInt8] {
        AnnexB.units(in: bytes).flatMap { [0, 0, 0, 1] + bytes[$0.header..<$0.range.upperBound] }
    }
}
