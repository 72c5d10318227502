import HeliographAPI
import Media
import NIOCore
import NIOEmbedded
import NIOWebSocket
import Relay

extension FuzzTarget {
    /// An agent's access units on their way to viewers in scrcpy's packets.
    static let scrcpy = FuzzTarget("scrcpy", words: ["\u{0}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{1}"]) { input in
        var choices = Choices(input)
        let (flags, pts) = (choices.byte(), Int64(choices.short()))
        let codec: Codec = flags & 0x80 == 0 ? .h264 : .h265
        let unit = AccessUnit(
            pts: pts,
            captured: 0,
            encodeStart: 0,
            encodeEnd: 0,
            flags: AccessUnit.Flags(rawValue: flags & 7),
            size: PictureSize(width: 2, height: 2),
            bytes: choices.rest()
        )
        let picture = MediaUnit(EncodedUnit(copying: unit), codec: codec)
        var packets = ByteBuffer()
        for format in [StreamFormat.bare(.annexB), .bare(.scrcpy)] {
            var muxer = StreamMuxer(format, codec: codec, tracks: [.video(codec)], fps: 30)
            let bytes = muxer.rendered(picture, of: .video(codec))?.bytes ?? ByteBuffer()
            if format == .bare(.scrcpy) { packets = bytes }
            try require(format == .bare(.scrcpy) || Array(bytes.readableBytesView) == unit.bytes, "Annex B is another")
        }
        var (heads, contents) = ([UInt64](), [[UInt8]]())
        while packets.readableBytes > 0 {
            guard let head = packets.readInteger(as: UInt64.self), let size = packets.readInteger(as: UInt32.self),
                let content = packets.readBytes(length: Int(size))
            else { throw Violation(description: "a packet is cut off") }
            heads.append(head)
            contents.append(content)
        }
        let isKey = unit.flags.contains(.key)
        let hasConfiguration = isKey && ParameterSets(leading: unit.bytes, codec: codec) != nil
        let expected = (hasConfiguration ? [1 << 63] : []) + [UInt64(pts) | (isKey ? 1 << 62 : 0)]
        try require(heads == expected, "heads \(heads)")
        // No NAL unit is lost; duplicate parameter sets may come once.
        try require(units(contents) == units([unit.bytes]), "\(contents) of \(unit.bytes)")
    }

    private static func units(_ streams: [[UInt8]]) -> Set<ArraySlice<UInt8>> {
        Set(
            streams.flatMap { stream in
                AnnexB.units(in: stream).map { unit in
                    // Zeros after a unit belong to the stream.
                    let contents = stream[unit.header..<unit.range.upperBound]
                    return contents[..<(contents.lastIndex { $0 != 0 }.map { $0 + 1 } ?? contents.startIndex)]
                }
            }
        )
    }

    /// A WebSocket's frames and messages, after the handshake.
    static let webSocket = FuzzTarget(
        "websocket",
        words: ["\u{1}", "{\"type\":\"", "ack", "clock", "keyframe", "\"pts\":", "\"presented\":", "\"id\":"]
    ) { input in
        var choices = Choices(input)
        let seed = choices.byte()
        let stream = choices.rest()
        let whole = actions([stream[...]])
        let split = actions(Arrival.pieces(of: stream, seed: seed))
        try require(whole == split, "the pieces matter: \(whole) and \(split)")
        let policy = WebSocketMachine.Policy()
        for (place, action) in whole.enumerated() {
            switch action {
            case .message(let text):
                try require(text.utf8.count <= policy.maximumMessage, "a message of \(text.utf8.count) bytes")
                _ = try refusable { try ViewerMessage(parsing: text) }
            case .input(let bytes):
                try require(bytes.count <= policy.maximumMessage, "input of \(bytes.count) bytes")
                _ = try refusable { try ViewerInput(parsing: bytes) }
            case .close(let close):
                try require(close.reason.utf8.count <= 123, "a reason of \(close.reason.utf8.count) bytes")
                try require(whole[(place + 1)...].allSatisfy { $0 == .finish }, "\(whole) goes on behind Close")
            case .ping, .pong, .finish, .drop: break
            }
        }
    }

    private static func actions(_ pieces: [ArraySlice<UInt8>]) -> [WebSocketMachine.Action] {
        let collector = FrameCollector()
        let decoder = ByteToMessageHandler(
            WebSocketFrameDecoder(maxFrameSize: WebSocketMachine.Policy().maximumMessage)
        )
        let channel = EmbeddedChannel(handlers: [decoder, collector])
        // Units before an error have reached the collector already.
        for piece in pieces { _ = try? channel.writeInbound(ByteBuffer(bytes: piece)) }
        _ = try? channel.finish(acceptAlreadyClosed: true)
        return collector.actions
    }
}

/// Passes frames to the machine, like the relay's own handler.
private final class FrameCollector: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private(set) var actions: [WebSocketMachine.Action] = []
    private var machine = WebSocketMachine(now: .uptimeNanoseconds(0))

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        actions += machine.received(unwrapInboundIn(data), now: .uptimeNanoseconds(0))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if let error = error as? NIOWebSocketError {
            actions += machine.received(error, now: .uptimeNanoseconds(0))
        }
    }
}
