import HeliographAPI
import Media

/// A session that a program watches: its pictures, its sound and its events, as they come.
///
///     let live = try await relay.device("left").watch()
///     for try await unit in live.video where unit.isKeyframe {
///         print(unit.pts, unit.bytes.count)
///     }
///
/// If the connection is lost, or the relay is restarted, it connects again by itself: ``events`` has
/// ``LiveEvent/interrupted(_:)`` and then ``LiveEvent/resumed(missed:)``. Its sequences end when it is closed or the
/// session has ended, and throw if the relay refuses the program.
///
/// What a program does not take waits, within limits: see ``MediaUnit/dropped``.
public final class LiveSession: Sendable {
    /// The longest packet of speech, in bytes.
    private static let longestPacket = 2048

    fileprivate let core: LiveCore

    init(_ core: LiveCore) { self.core = core }

    deinit { core.close() }

    /// Ends it. It may be called by any task and thread, and again.
    public func close() { core.close() }

    // MARK: What comes

    /// The pictures. The first one is a keyframe, and so is the first one after a gap.
    public var video: Units { Units(session: self, kind: .video) }

    /// The packets of the device's sound, which the relay sends once they are asked for.
    public var audio: Units {
        core.listen(true)
        return Units(session: self, kind: .audio)
    }

    /// Asks for no more sound, until ``audio`` is called again. What has come already can still be taken.
    public func stopAudio() { core.listen(false) }

    /// What else happens.
    public var events: Events { Events(session: self) }

    /// What the relay said when it last connected.
    public var facts: SessionFacts? { core.facts }

    /// The right to act on the screen; `nil` before the relay has said it.
    public var control: Control? { core.control }

    /// A track's units, for `for try await`. Each unit goes to one of the tasks that take them.
    public struct Units: AsyncSequence, Sendable {
        public typealias Element = MediaUnit
        public typealias Failure = RelayError

        fileprivate let session: LiveSession
        fileprivate let kind: Track.Kind

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(session: session, kind: kind) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let session: LiveSession
            fileprivate let kind: Track.Kind

            public mutating func next() async throws(RelayError) -> MediaUnit? {
                try await next(isolation: #isolation)
            }

            public mutating func next(isolation actor: isolated (any Actor)?) async throws(RelayError) -> MediaUnit? {
                switch kind {
                case .video: try await session.core.nextPicture()
                case .audio: try await session.core.nextSound()
                }
            }
        }
    }

    /// Events, likewise.
    public struct Events: AsyncSequence, Sendable {
        public typealias Element = LiveEvent
        public typealias Failure = RelayError

        fileprivate let session: LiveSession

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(session: session) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            fileprivate let session: LiveSession

            public mutating func next() async throws(RelayError) -> LiveEvent? {
                try await next(isolation: #isolation)
            }

            public mutating func next(isolation actor: isolated (any Actor)?) async throws(RelayError) -> LiveEvent? {
                try await session.core.nextEvent()
            }
        }
    }

    /// How the session arrives, and what becomes of it in this program.
    public var statistics: LiveStatistics { core.statistics() }

    // MARK: What the program sends

    /// Notes that a picture was decoded, for ``statistics``.
    public func decoded(_ unit: MediaUnit) { core.decoded(unit) }

    /// Notes that a picture was presented just now, for ``statistics`` and those of the relay.
    public func presented(_ unit: MediaUnit) { core.presented(unit) }

    /// Asks for a keyframe.
    public func requestKeyframe() { core.requestKeyframe() }

    /// Asks for control of the device, and returns once the program has it. An interruption ends control.
    ///
    /// - Parameter takes: Whether to take it from another controller at once. Otherwise that one must have done nothing
    ///   for 5 s.
    /// - Throws: ``RelayError`` of the kind `refused` if the program may not act, or if another controller acts.
    public func takeControl(fromOthers takes: Bool = false) async throws(RelayError) {
        try await core.takeControl(takes: takes)
    }

    /// Gives control of the device back. What the program holds is released.
    public func leaveControl() async throws(RelayError) { try await core.send([Input.leaving]) }

    /// Acts on the device's screen, which needs ``takeControl(fromOthers:)`` before. It returns when the connection has
    /// taken the input. ``LiveEvent/refused(_:)`` has what the relay or the desktop refuses.
    ///
    /// Send at most 125 a second: the relay ends a connection with more than 250 messages.
    ///
    /// - Throws: ``RelayError``, of the kind `badArgument` if the relay could not read the input.
    public func send(_ input: Input) async throws(RelayError) {
        if let fault = input.fault { throw RelayError(.badArgument, fault) }
        try await core.send(input.messages)
    }

    /// Sends a packet of Opus to the device's microphone when its sound is over; an empty one ends the speech. It needs
    /// control, too.
    ///
    /// - Throws: ``RelayError``, of the kind `badArgument` if it is not a packet of at most 2048 bytes.
    public func speak(_ packet: [UInt8]) async throws(RelayError) {
        let isValid = packet.isEmpty || packet.count <= Self.longestPacket && packet.read { OpusPacket($0) } != nil
        guard isValid else { throw RelayError(.badArgument, "a packet of Opus has at most 2048 bytes") }
        try await core.send([SpeechMessage.bytes(packet)])
    }

    /// Sends a binary message.
    package func send(message: [UInt8]) async throws(RelayError) { try await core.send([message]) }
}
