import Media

/// The body of a WATCH packet, big-endian:
///
///      0 | id, u32
///      4 | goal, u8: 1 changed, 2 static, 3 matches, 4 gone
///      5 | tolerance, u8
///      6 | ignored regions, u16: n, at most 32
///      8 | share, u32: millionths
///     12 | settled, u32: ms
///     16 | region: x, y, width, height, u16 each; all 0 for the whole picture
///     24 | n ignored regions
///        | the template to the end of the body
enum WatchBody {
    static let fixedByteCount = 24
    private static let regionByteCount = 8
    /// The longest body, in bytes.
    static let maximumByteCount = fixedByteCount + Watch.maximumIgnored * regionByteCount + Watch.maximumTemplate

    static func append(_ watch: Watch, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: watch.id)
        bytes += [watch.goal.rawValue, watch.tolerance]
        bytes.append(bigEndian: UInt16(clamping: watch.ignored.count))
        bytes.append(bigEndian: watch.share)
        bytes.append(bigEndian: watch.settled)
        append(watch.region, to: &bytes)
        for region in watch.ignored { append(region, to: &bytes) }
        bytes += watch.template
    }

    static func append(_ region: PictureRegion, to bytes: inout [UInt8]) {
        for number in [region.x, region.y, region.width, region.height] {
            bytes.append(bigEndian: UInt16(clamping: number))
        }
    }

    static func region(_ rest: inout ByteReader) -> PictureRegion? {
        guard let x = rest.u16(), let y = rest.u16(), let width = rest.u16(), let height = rest.u16() else {
            return nil
        }
        return PictureRegion(
            x: Int(clamping: x),
            y: Int(clamping: y),
            width: Int(clamping: width),
            height: Int(clamping: height)
        )
    }

    static func parse(_ body: ByteReader) throws(WireError) -> Watch {
        var rest = body
        guard let id = rest.u32(), let goal = rest.u8(), let tolerance = rest.u8(), let count = rest.u16(),
            let share = rest.u32(), let settled = rest.u32(), let region = region(&rest)
        else {
            throw .malformedBody(type: .watch, reason: "\(body.count) bytes, at least \(fixedByteCount) expected")
        }
        guard let known = Watch.Goal(rawValue: goal), count <= Watch.maximumIgnored, share <= Watch.wholeShare else {
            throw .malformedBody(type: .watch, reason: "goal \(goal), \(count) ignored regions, share \(share)")
        }
        var ignored: [PictureRegion] = []
        while ignored.count < count {
            guard let region = self.region(&rest) else {
                throw .malformedBody(type: .watch, reason: "\(body.count) bytes with \(count) ignored regions")
            }
            ignored.append(region)
        }
        return Watch(
            id: id,
            goal: known,
            tolerance: tolerance,
            share: share,
            settled: settled,
            region: region,
            ignored: ignored,
            template: rest.bytes
        )
    }
}

/// The body of a WATCHED packet, big-endian:
///
///      0 | id, u32
///      4 | refusal, u8: 0 for none
///      5 | reserved, 3 bytes: 0
///      8 | captured, u64: monotonic ns; 0 with a refusal
///     16 | box: x, y, width, height, u16 each; all 0 for none
enum WatchReportBody {
    static let byteCount = 24
    private static let reserved = 3

    static func append(_ report: WatchReport, to bytes: inout [UInt8]) {
        let (refusal, captured, box): (UInt8, UInt64, PictureRegion) =
            switch report.outcome {
            case .happened(let captured, let box): (0, captured, box)
            case .refusal(let refusal): (refusal.rawValue, 0, PictureRegion(x: 0, y: 0, width: 0, height: 0))
            }
        bytes.append(bigEndian: report.id)
        bytes += [refusal] + [UInt8](repeating: 0, count: reserved)
        bytes.append(bigEndian: captured)
        WatchBody.append(box, to: &bytes)
    }

    static func parse(_ body: ByteReader) throws(WireError) -> WatchReport {
        var rest = body
        guard let id = rest.u32(), let refusal = rest.u8(), rest.u8() != nil, rest.u16() != nil,
            let captured = rest.u64(), let box = WatchBody.region(&rest), rest.count == 0
        else {
            throw .malformedBody(type: .watched, reason: "\(body.count) bytes, \(byteCount) expected")
        }
        guard refusal != 0 else { return WatchReport(id: id, outcome: .happened(captured: captured, box: box)) }
        guard let known = WatchReport.Refusal(rawValue: refusal) else {
            throw .malformedBody(type: .watched, reason: "refusal \(refusal)")
        }
        return WatchReport(id: id, outcome: .refusal(known))
    }
}
