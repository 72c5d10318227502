import Wire

/// One thing that happens while a relay's link is fuzzed. A step stands for itself: what it is about that is not there makes it do nothing, so that any
/// steps of a plan can be left out.
enum LinkStep: Sendable {
    /// Sessions have places, and so have viewers; links have devices and roles.
    case startSession(Int, device: Int, body: String)
    case stopSession(Int)
    case changeSession(Int, body: String)
    case connect(LinkName, Greeting)
    case endLink(LinkName, Ending)
    case units(LinkName, session: Int, [UnitRecipe], Delivery)
    /// The same for a session that the device does not have.
    case strangeUnits(LinkName, session: UInt32)
    /// A packet that is no access unit, with odd values.
    case report(LinkName, session: Int, Report, seed: UInt64)
    case answerSnapshots(LinkName, seed: UInt64)
    /// Packets of the corpus, changed.
    case mutated(LinkName, seed: UInt64)
    /// The beginning of a packet whose rest never comes.
    case torn(LinkName, seed: UInt64)
    /// Takes nothing of what the relay sends, or goes on.
    case hold(LinkName, Bool)
    case join(Int, session: Int, Viewing)
    case stall(Int)
    case resume(Int)
    case leave(Int, Ending)
    /// What a viewer sends on its connection.
    case say(Int, seed: UInt64)
    case call(session: Int, seed: UInt64)
    case breathe(milliseconds: Int)
}

/// A link by its device's place in ``TestedRelay/devices`` and its role.
struct LinkName: Sendable, Hashable, CustomStringConvertible {
    let device: Int
    let role: AgentRole

    var description: String { "\(TestedRelay.devices[device])/\(role.rawValue)" }
}

/// What an agent says first.
enum Greeting: CaseIterable, Sendable {
    /// HELLO, and that its source streams.
    case streaming
    /// HELLO alone.
    case quiet
    /// HELLO whose fields are odd, though its token is right.
    case odd
    case wrongToken
    /// HELLO twice.
    case twice
    /// Another packet.
    case none
}

/// How access units are sent.
struct Delivery: Sendable {
    /// Whether the link is opened where it does not stand.
    var revives: Bool
    /// Whether they leave in one piece.
    var isTogether: Bool
    /// Whether the first keyframe waits for the request that it answers.
    var answers: Bool
    /// Of odd values in their headers; nil for none.
    var oddities: UInt64?
}

enum Report: CaseIterable, Sendable {
    case heartbeat, status, sessionError, snapshot, encoders, rest, wake
    /// A body that is JSON of other fields, or none.
    case text
    /// Thousands of them.
    case flood
}

/// How a viewer watches.
struct Viewing: Sendable {
    enum Format: CaseIterable, Sendable {
        /// The session's TCP port, in its framing.
        case port
        /// Annex B over HTTP.
        case bare
        case transportStream, movie, snapshots, socket, socketMovie
        case snapshot
        case wait
    }

    var format: Format
    /// Of the query; nil for none.
    var join: String?
    /// What else the query says.
    var query: [String] = []

    /// The formats whose pictures are looked at.
    static let streams: [Format] = [.port, .bare, .transportStream, .movie, .socket, .socketMovie]
}
