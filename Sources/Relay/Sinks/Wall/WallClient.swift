import HeliographAPI
import NIOCore
import NIOWebSocket

/// A client of the wall: small pictures of many sessions, and the relay's events, over one WebSocket.
/// docs/reference/wall.md has the messages.
final class WallClient: WebSocketEndpoint {
    /// Most bytes that wait for the client.
    static let room = 1 << 20

    private let caller: Caller
    private let channel: any Channel
    private let events: EventHub
    private let pictures: WallPictures
    private let messages: AsyncStream<WallMessage>
    private let continuation: AsyncStream<WallMessage>.Continuation

    init(_ caller: Caller, on channel: any Channel, events: EventHub, pictures: WallPictures) {
        (self.caller, self.channel, self.events, self.pictures) = (caller, channel, events, pictures)
        // Each message replaces the one before.
        (messages, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    static func frame(_ message: JSONValue) -> WebSocketFrame { frame(message.text) }

    private static func frame(_ text: String) -> WebSocketFrame {
        WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: text))
    }

    func opened() { Task { await serve() } }

    func closed() { continuation.finish() }

    func received(_ text: String) throws -> JSONValue? {
        continuation.yield(try WallMessage(parsing: text))
        return nil
    }

    func received(_ bytes: [UInt8]) throws { throw WallMessage.Malformed(description: "messages are text") }

    private func serve() async {
        let (listener, last) = events.join()
        let telling = Task { await tell(listener, after: last) }
        for await message in messages { await pictures.show(message) }
        events.leave(listener)
        await pictures.end()
        await telling.value
    }

    /// Sends what happens until the client leaves or the relay ends.
    private func tell(_ listener: EventHub.Listener, after last: UInt64) async {
        var filter = EventRing.Filter(EventQuery())
        filter.devices = caller.devices.map { Set($0) }
        var number = last
        while await events.wait(listener, after: number) {
            let found = events.events(after: number, filter)
            number = found.last
            let missed = found.missed > 0 ? [EventReport.missed(found.missed).text] : []
            for event in missed + found.events.map(\.data) {
                channel.write(Self.frame(#"{"type":"event","event":\#(event)}"#))
            }
            guard channel.isWritable else { return close(.init(WebSocketClose.fellBehind, "fell_behind")) }
        }
        if events.isClosed { close(.init(.goingAway, "the relay ends")) }
    }

    private func close(_ close: WebSocketClose) { WebSocketHandler.close(channel, close) }
}
