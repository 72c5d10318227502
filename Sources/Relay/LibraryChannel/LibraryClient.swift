import HeliographAPI
import Library
import NIOCore
import NIOWebSocket

/// A client of the library's channel: its connection. ``LibraryChannel`` knows what it plays.
final class LibraryClient: WebSocketEndpoint {
    /// Most bytes that wait for the client. One that takes no more is behind, and connects again.
    static let room = 1 << 20
    /// Most messages of the client that wait.
    private static let mostWaiting = 64

    let caller: Caller
    let library: Library
    private let channel: any Channel
    private let hub: LibraryChannel
    private let messages: AsyncStream<LibraryMessage>
    private let continuation: AsyncStream<LibraryMessage>.Continuation

    init(_ caller: Caller, on channel: any Channel, of hub: LibraryChannel, in library: Library) {
        self.caller = caller
        self.library = library
        self.channel = channel
        self.hub = hub
        (messages, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(Self.mostWaiting))
    }

    func opened() { Task { await hub.serve(self, messages) } }

    func closed() { continuation.finish() }

    func received(_ text: String) throws -> JSONValue? {
        if case .dropped = continuation.yield(try LibraryMessage(parsing: text)) {
            throw LibraryMessage.Malformed(description: "too many messages wait")
        }
        return nil
    }

    func received(_ bytes: [UInt8]) throws { throw LibraryMessage.Malformed(description: "messages are text") }

    func send(_ events: [JSONValue]) {
        guard !events.isEmpty else { return }
        guard channel.isWritable else { return close(.init(WebSocketClose.fellBehind, "fell_behind")) }
        let channel = channel
        channel.eventLoop.execute {
            for event in events {
                let frame = WebSocketFrame(fin: true, opcode: .text, data: ByteBuffer(string: event.text))
                channel.write(frame, promise: nil)
            }
            channel.flush()
        }
    }

    func close(_ close: WebSocketClose) { WebSocketHandler.close(channel, close) }
}
