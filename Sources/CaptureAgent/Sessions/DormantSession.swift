import Media
import Wire

/// A session that the agent knows and does not encode: no pipeline, no encoder, no thread.
struct DormantSession: Sendable {
    let id: SessionID
    var parameters: SessionParameters
    let catalogue: EncoderCatalogue
    let output: any SessionOutput
    let turns: EncodingTurns
    /// The keyframe request that its first picture is to answer; nil for none.
    var request: UInt32?
    /// Whether the system has refused its pipeline, and the relay knows.
    var isRefused = false

    /// Takes the change over. Returns what is out of range; then nothing changes.
    mutating func update(_ update: SessionUpdate) -> String? {
        let changed = update.applied(to: parameters)
        if let problem = changed.problem { return problem }
        parameters = changed
        isRefused = false
        return nil
    }

    /// Its pipeline, which begins with a keyframe that answers the request.
    ///
    /// The parameters are as in `SessionPipeline`.
    func started(
        after former: Completion?,
        abilityChanged: @escaping @Sendable () -> Void
    ) throws(ResourceShortage) -> SessionPipeline {
        let pipeline = try SessionPipeline(
            id: id,
            parameters: parameters,
            catalogue: catalogue,
            output: output,
            turns: turns,
            after: former,
            abilityChanged: abilityChanged
        )
        if let request { pipeline.requestKeyframe(request) }
        return pipeline
    }
}
