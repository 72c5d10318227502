import HeliographAPI
import NIOCore

/// Where a session's WebSocket is.
struct LivePlace: Sendable {
    /// How long a relay may take to connect, and then to answer.
    static let answerTime = TimeAmount.seconds(10)
    /// How much more time it gets to start a device's broadcast.
    private static let startTime = TimeAmount.seconds(40)

    let target: RelayTarget
    private let session: SessionAddress

    init(_ session: SessionAddress, of target: RelayTarget) { (self.session, self.target) = (session, target) }

    private var route: Route { Routes.watchOverWebSocket.route }

    /// The object of the call.
    var object: CallPlace { session.place(of: route) }

    /// The path of the WebSocket.
    var path: String { object.path(of: route) }

    /// How long the relay may take to answer.
    var answerTime: TimeAmount {
        if case .shared = session { Self.answerTime + Self.startTime } else { Self.answerTime }
    }

    /// Whether the session may come back after its end, because it is the one of a name.
    var mayReturn: Bool {
        if case .id = session { false } else { true }
    }
}
