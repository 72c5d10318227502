import Media
import Wire

/// A session that the agent knows but does not encode: it has no pipeline, no encoder and no thread.
struct DormantSession: Sendable {
    let id: SessionID
    var parameters: SessionParameters
    let catalogue: EncoderCatalogue
    let output: any SessionOutput
    let turns: EncodingTurns
    /// The keyframe request that its first picture will answer; `nil` for none.
    var request: UInt32?
    /// Whether the system has refused its pipeline and the relay has been told.
    var isRefused = false

    /// Applies the change.
    ///
    /// - Returns: Which parameter is out of range, in which case nothing changes; otherwise `nil`.
    mutating func update(_ update: SessionUpdate) -> String? {
        let changed = update.applied(to: parameters)
        if let problem = changed.problem { return problem }
        parameters = changed
        isRefused = false
        return nil
    }

    /// Starts its pipeline, which begins with a keyframe that answers the request.
    ///
    /// The parameters are those of `SessionPipeline`.
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
