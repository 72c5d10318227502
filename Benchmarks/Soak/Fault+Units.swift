import Foundation
import TestSupport

extension Fault {
    /// Malformed access units.
    static let units: [Fault] = [
        Fault(name: "an agent takes over and sends units without start codes", repetitions: 3) { rig in
            let group = try await stillGroup(rig)
            let viewer = try StreamReader("/screencapture/1/stream.ts", of: rig.relay)
            defer { viewer.end() }
            let agent = try CarelessAgent(sending: group, to: rig.relay)
            defer { agent.close() }
            let before = try await Metrics(of: rig.relay).malformedUnits
            try await inThread { try agent.run(seconds: 6) }
            let status = try await rig.status()
            guard status.agent == CarelessAgent.pid, status.feed == "primary" else {
                throw NeverCame(description: "the session does not go on with that agent's pictures")
            }
            guard viewer.isOpen, viewer.byteCount > 0 else {
                throw NeverCame(description: "the viewer of stream.ts was cut off")
            }
            let counted = try await Metrics(of: rig.relay).malformedUnits - before
            guard counted == agent.malformed else {
                throw NeverCame(description: "\(counted) of \(agent.malformed) malformed units were counted")
            }
            agent.close()
            _ = try await away(rig)
            return "\(counted) malformed units, after each a keyframe"
        }
    ]

    /// A keyframe and the pictures after it, all of a static screen: most have about ten bytes.
    private static func stillGroup(_ rig: Rig) async throws -> [ScrcpyViewer.Picture] {
        try rig.desktop.pause()
        defer { try? rig.desktop.resume() }
        try await Task.sleep(for: .seconds(4))
        let viewer = try ScrcpyViewer(port: rig.sessionPort)
        defer { viewer.hangUp() }
        return try await eventually("a keyframe with small pictures after it", limit: .seconds(15)) {
            let pictures = viewer.pictures
            return pictures.indices.filter { pictures[$0].isKeyframe }.lazy
                .map {
                    pictures[$0...].prefix(1) + pictures[($0 + 1)...].prefix { !$0.isKeyframe && $0.bytes.count < 150 }
                }
                .first { $0.count >= Rig.fps }.map(Array.init)
        }
    }
}
