import Media

/// The body of a CLIPBOARD packet, big-endian:
///
///      0 | id, u32
///      4 | request, u8: 1 get, 2 set
///      5 | kind, u8: 1 text, 2 PNG
///      6 | reserved, u16: 0
///      8 | the content to the end of the body; none with get
enum ClipboardOrderBody {
    static let fixedByteCount = 8
    private static let get: UInt8 = 1
    private static let set: UInt8 = 2

    static func append(_ order: ClipboardOrder, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: order.id)
        switch order.request {
        case .get(let kind): bytes += [Self.get, kind.rawValue, 0, 0]
        case .set(let content):
            bytes += [Self.set, content.kind.rawValue, 0, 0]
            bytes += content.bytes
        }
    }

    static func parse(_ body: ByteReader) throws(WireError) -> ClipboardOrder {
        var rest = body
        guard let id = rest.u32(), let request = rest.u8(), let kind = rest.u8(), rest.u16() != nil else {
            throw .malformedBody(type: .clipboard, reason: "\(body.count) bytes, at least \(fixedByteCount) expected")
        }
        guard let known = ClipboardContent.Kind(rawValue: kind) else {
            throw .malformedBody(type: .clipboard, reason: "kind \(kind)")
        }
        switch request {
        case Self.get where rest.count == 0: return ClipboardOrder(id: id, request: .get(known))
        case Self.set:
            let content = ClipboardContent(known, rest.bytes)
            guard !content.isTooLarge, content.isOfItsKind else {
                throw .malformedBody(type: .clipboard, reason: "\(rest.count) bytes that are not \(known)")
            }
            return ClipboardOrder(id: id, request: .set(content))
        default: throw .malformedBody(type: .clipboard, reason: "request \(request) with \(rest.count) bytes")
        }
    }
}

/// The body of a CLIPBOARD_DONE packet, big-endian:
///
///      0 | id, u32
///      4 | refusal, u8: 0 for none
///      5 | kind of the content, u8: 1 text, 2 PNG; 0 without content
///      6 | reserved, u16: 0
///      8 | the content, or the refusal's detail in UTF-8, to the end of the body
enum ClipboardReportBody {
    static let fixedByteCount = ClipboardOrderBody.fixedByteCount
    /// The longest detail of a refusal, in bytes.
    private static let longestDetail = 1024

    static func append(_ report: ClipboardReport, to bytes: inout [UInt8]) {
        bytes.append(bigEndian: report.id)
        switch report.outcome {
        case .done: bytes += [0, 0, 0, 0]
        case .content(let content):
            bytes += [0, content.kind.rawValue, 0, 0]
            bytes += content.bytes
        case .refused(let refusal, let detail):
            bytes += [refusal.rawValue, 0, 0, 0]
            bytes += detail.utf8(upTo: longestDetail)
        }
    }

    static func parse(_ body: ByteReader) throws(WireError) -> ClipboardReport {
        var rest = body
        guard let id = rest.u32(), let refusal = rest.u8(), let kind = rest.u8(), rest.u16() != nil else {
            throw .malformedBody(
                type: .clipboardDone,
                reason: "\(body.count) bytes, at least \(fixedByteCount) expected"
            )
        }
        switch (refusal, kind) {
        case (0, 0) where rest.count == 0: return ClipboardReport(id: id, outcome: .done)
        case (0, _):
            if let kind = ClipboardContent.Kind(rawValue: kind) {
                let content = ClipboardContent(kind, rest.bytes)
                if !content.isTooLarge, content.isOfItsKind {
                    return ClipboardReport(id: id, outcome: .content(content))
                }
            }
        default:
            if let known = ClipboardReport.Refusal(rawValue: refusal), kind == 0,
                rest.count <= longestDetail,
                let detail = String(validating: rest.bytes, as: UTF8.self)
            {
                return ClipboardReport(id: id, outcome: .refused(known, detail: detail))
            }
        }
        throw .malformedBody(
            type: .clipboardDone,
            reason: "refusal \(refusal) and kind \(kind) with \(rest.count) bytes"
        )
    }
}
