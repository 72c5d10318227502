import FoundationEssentials
import Media

extension Packet {
    /// Returns the packet's bytes, header first.
    package func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        encode(into: &bytes)
        return bytes
    }

    /// Replaces `bytes` with the packet's bytes, header first, and reuses their memory.
    package func encode(into bytes: inout [UInt8]) {
        bytes.removeAll(keepingCapacity: true)
        switch self {
        case .accessUnit(_, let accessUnit):
            bytes.reserveCapacity(PacketHeader.byteCount + AccessUnitBody.longestHead + accessUnit.bytes.count)
        case .snapshot(_, let snapshot):
            bytes.reserveCapacity(PacketHeader.byteCount + SnapshotBody.byteCount(of: snapshot))
        default: break
        }
        bytes.append(bigEndian: PacketHeader.magic)
        bytes.append(PacketHeader.version)
        bytes.append(type.rawValue)
        bytes.append(bigEndian: track)
        bytes.append(bigEndian: session)
        bytes.append(bigEndian: UInt32(0))
        appendBody(to: &bytes)
        let length = UInt32(bytes.count - PacketHeader.byteCount)
        bytes.withUnsafeMutableBytes {
            $0.storeBytes(of: length.bigEndian, toByteOffset: PacketHeader.byteCount - 4, as: UInt32.self)
        }
    }

    private func appendBody(to bytes: inout [UInt8]) {
        switch self {
        case .welcome(let body): bytes.append(json: body)
        case .reject(let body): bytes.append(json: body)
        case .sessionAdd(_, let body): bytes.append(json: body)
        case .sessionUpdate(_, let body): bytes.append(json: body)
        case .sessionRemove: break
        case .keyframeRequest(_, let request): bytes.append(bigEndian: request)
        case .snapshotRequest(_, let request): SnapshotRequestBody.append(request, to: &bytes)
        case .stop(let body): bytes.append(json: body)
        case .hello(let body): bytes.append(json: body)
        case .heartbeat(let body): bytes.append(json: body)
        case .unreadHeartbeat(let heartbeat): bytes += heartbeat.body
        case .accessUnit(_, let accessUnit): AccessUnitBody.append(accessUnit, to: &bytes)
        case .status(let body): bytes.append(json: body)
        case .sessionError(_, let body): bytes.append(json: body)
        case .snapshot(_, let snapshot): SnapshotBody.append(snapshot, to: &bytes)
        case .encoders(let body): bytes.append(json: body)
        case .rested(_, let body): bytes.append(json: body)
        case .rest(_, let body): bytes.append(json: body)
        case .wake: break
        case .tracks(let body): bytes.append(json: body)
        case .watch(_, let watch): WatchBody.append(watch, to: &bytes)
        case .unwatch(_, let id): bytes.append(bigEndian: id)
        case .watched(_, let report): WatchReportBody.append(report, to: &bytes)
        case .input(_, let order): InputOrderBody.append(order, to: &bytes)
        case .inputDone(_, let report): InputReportBody.append(report, to: &bytes)
        case .inputs(let body): bytes.append(json: body)
        case .clipboard(let order): ClipboardOrderBody.append(order, to: &bytes)
        case .clipboardDone(let report): ClipboardReportBody.append(report, to: &bytes)
        case .gamepad(let order): GamepadOrderBody.append(order, to: &bytes)
        case .gamepadFeedback(let report): GamepadReportBody.append(report, to: &bytes)
        case .application(let body): bytes.append(json: body)
        case .listen(let body): bytes.append(json: body)
        case .speech(let packet): bytes += packet
        case .speechReport(let body): bytes.append(json: body)
        case .applicationDone(let body): bytes.append(json: body)
        }
    }
}

extension [UInt8] {
    /// Appends `body` as JSON with sorted keys, so that the same body is always the same bytes.
    fileprivate mutating func append(json body: some Encodable) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            append(contentsOf: try encoder.encode(body))
        } catch {
            preconditionFailure("packet bodies hold only strings, integers, finite numbers and booleans: \(error)")
        }
    }
}
