package import HeliographAPI
package import Wire

extension SessionRequest {
    /// What an agent that encodes for `former` is told, so that it encodes for this; nil for nothing.
    package func update(from former: SessionRequest) -> SessionUpdate? {
        let update = SessionUpdate(
            bitrate: bitrate == former.bitrate ? nil : bitrate,
            fps: fps == former.fps ? nil : fps,
            size: size == former.size ? nil : size
        )
        return update == SessionUpdate() ? nil : update
    }
}
