package import Media

/// Says what the agent does about its device's sound, until the next order.
package struct Listen: Sendable, Equatable, Codable {
    package enum Mode: String, Sendable, Codable {
        /// Nothing is captured.
        case off
        /// The last second is kept, so that the agent can take over without a gap.
        case ready
        /// Sound is sent.
        case send
    }

    /// Where the sound of another agent has ended.
    package struct End: Sendable, Equatable {
        /// The time of the sample that comes next, in monotonic µs.
        package var from: Int64
        /// When that sample was captured, in monotonic ns. Both agents hear the same node, so this says which sample it
        /// is.
        package var captured: Int64?

        package init(from: Int64, captured: Int64? = nil) { (self.from, self.captured) = (from, captured) }
    }

    package var mode: Mode
    /// The codecs to send, or to be ready for; absent means Opus.
    private var codecs: [SoundCodec]?
    // The ends of Opus and of AAC. Absent means that the codec begins now.
    private var from: Int64?
    private var captured: Int64?
    private var aacFrom: Int64?
    private var aacCaptured: Int64?

    /// - Parameters:
    ///   - codecs: The codecs to send, or to be ready for.
    ///   - ends: The ends of another agent's sound, to continue there. Other codecs begin now.
    package init(_ mode: Mode, _ codecs: Set<SoundCodec> = [.opus], after ends: [SoundCodec: End] = [:]) {
        self.mode = mode
        // As older agents read it.
        if mode != .off, codecs != [.opus] { self.codecs = SoundCodec.allCases.filter(codecs.contains) }
        (from, captured) = (ends[.opus]?.from, ends[.opus]?.captured)
        (aacFrom, aacCaptured) = (ends[.aac]?.from, ends[.aac]?.captured)
    }

    /// The codecs that are wanted.
    package var wanted: Set<SoundCodec> { mode == .off ? [] : codecs.map { Set($0) } ?? [.opus] }

    /// Returns where another agent's sound in a codec has ended; `nil` to begin now.
    package func end(of codec: SoundCodec) -> End? {
        switch codec {
        case .opus: from.map { End(from: $0, captured: captured) }
        case .aac: aacFrom.map { End(from: $0, captured: aacCaptured) }
        }
    }
}
