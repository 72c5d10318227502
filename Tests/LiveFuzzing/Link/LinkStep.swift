import Wire

/// One event while a relay's link is fuzzed.
///
/// A step is independent of others: if its session or link does not exist, it does nothing. So any steps of a plan can
/// be left out.
enum LinkStep: Sendable {
    /// Sessions and viewers are named by index, links by device and role.
    case startSession(Int, device: Int, body: String)
    case stopSession(Int)
    case changeSession(Int, body: String)
    case connect(LinkName, Greeting)
    case endLink(LinkName, Ending)
    case units(LinkName, session: Int, [UnitRecipe], Delivery)
    /// The same for a session that the device does not have.
    case strangeUnits(LinkName, session: UInt32)
    /// A packet other than an access unit, with odd values.
    case report(LinkName, session: Int, Report, seed: UInt64)
    case answerSnapshots(LinkName, seed: UInt64)
    /// Packets of the corpus, changed.
    case mutated(LinkName, seed: UInt64)
    /// The start of a packet whose rest never comes.
    case torn(LinkName, seed: UInt64)
    /// Stops reading what the relay sends, or continues.
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

/// A link, by its device's index in ``TestedRelay/devices`` and its role.
struct LinkName: Sendable, Hashable, CustomStringConvertible {
    let device: Int
    let role: AgentRole

    var description: String { "\(TestedRelay.devices[device])/\(role.rawValue)" }
}

/// What an agent sends first.
enum Greeting: CaseIterable, Sendable {
    /// HELLO, and that its source streams.
    case streaming
    /// HELLO alone.
    case quiet
    /// HELLO with odd fields but the correct token.
    case odd
    case wrongToken
    /// HELLO twice.
    case twice
    /// Another packet.
    case none
}

/// How access units are sent.
struct Delivery: Sendable {
    /// Whether the link is opened if it is not established.
    var revives: Bool
    /// Whether they are sent in one piece.
    var isTogether: Bool
    /// Whether the first keyframe waits for the request that it answers.
    var answers: Bool
    /// Odd values in their headers; `nil` for none.
    var oddities: UInt64?
}

enum Report: CaseIterable, Sendable {
    case heartbeat, status, sessionError, snapshot, encoders, rest, wake
    /// A body that is JSON with other fields, or is not JSON.
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
    /// From the query; `nil` for none.
    var join: String?
    /// The rest of the query.
    var query: [String] = []

    /// The formats whose pictures are checked.
    static let streams: [Format] = [.port, .bare, .transportStream, .movie, .socket, .socketMovie]
}
