import Foundation
import Media
import TestSupport
import Testing
import Wire

extension SystemTests {
    /// Tests of an agent with few file descriptors, one more in each run, so that each run refuses another one.
    @Suite("A source without file descriptors")
    struct ShortageTests {
        private enum Outcome: Equatable {
            case streaming
            /// It streamed once the limit was lifted.
            case recovered
            /// The agent needs this descriptor.
            case ended(AgentProcess.End)
        }

        @Test(
            "is lost and taken up again once there are some, wherever they ran out",
            arguments: [
                (Desktop.Compositor.sway, ["--source", "portal"]), (.sway, ["--source", "screenshot"]),
                (.mutter, ["--source", "mutter"]), (.none, ["--source", "node", "--node", "screen"]),
                (.xvfb, ["--source", "screenshot"]),
            ]
        )
        func descriptors(compositor: Desktop.Compositor, arguments: [String]) throws {
            let desktop = try Desktop(compositor)
            defer { desktop.end() }
            if compositor == .none { try desktop.startProducer("screen", size: "640x360") }
            var streaming = 0
            for limit in 4..<80 where streaming < 3 {
                let outcome = try outcome(desktop, arguments, limit: limit)
                if outcome == .streaming { streaming += 1 } else { streaming = 0 }
                switch outcome {
                case .streaming, .recovered: break
                // No program could be loaded; nothing at its start; no link.
                case .ended(.status(127)), .ended(.status(71)), .ended(.status(75)): break
                case .ended(let end): Issue.record("with less than \(limit) descriptors: \(end)")
                }
            }
            #expect(streaming == 3, "in the end there are enough")
        }

        private func outcome(_ desktop: Desktop, _ arguments: [String], limit: Int) throws -> Outcome {
            let server = try LinkServer()
            let agent = try AgentProcess(
                relay: server.port,
                ["--relay-absence", "0.2"] + arguments,
                limits: [.descriptors: limit],
                in: desktop
            )
            guard server.waitForCaller(while: { agent.isRunning }) else { return .ended(agent.waitForEnd().end) }
            do {
                try server.accept()
                server.send(.welcome(Welcome(heartbeatInterval: 50, maximumQueuedMedia: 1000)))
                // Screenshots are taken while a session wants them.
                server.send(.sessionAdd(1, parameters))
                if try isStreaming(server) {
                    let end = agent.end().end
                    return end == .status(0) ? .streaming : .ended(end)
                }
                try agent.lift(.descriptors)
                var losses = 0
                while try !isStreaming(server) {
                    losses += 1
                    guard losses < 30 else { throw NeverCame(description: "the source after the shortage") }
                }
            } catch {
                let (end, said) = agent.end()
                Issue.record("with less than \(limit) descriptors: \(error), \(said)")
                return .ended(end)
            }
            let end = agent.end().end
            return end == .status(0) ? .recovered : .ended(end)
        }

        private var parameters: SessionParameters {
            SessionParameters(
                codec: .h264,
                size: RequestedSize(width: 320),
                fps: 30,
                bitrate: 1_000_000,
                repeat: true,
                keyframeInterval: 1000,
                epoch: 0
            )
        }

        /// Waits for a frame or the source's loss. Returns whether a frame has come.
        private func isStreaming(_ server: LinkServer) throws -> Bool {
            // Half a minute, for a source that hangs.
            var heartbeatsLeft = 600
            let isStreaming = try server.next("a picture, or the source's loss") { packet -> Bool? in
                switch packet {
                case .accessUnit: return true
                case .status(let status) where status.state == .lost: return false
                case .heartbeat where heartbeatsLeft == 0: return false
                case .heartbeat: heartbeatsLeft -= 1
                default: break
                }
                return nil
            }
            guard heartbeatsLeft > 0 else { throw NeverCame(description: "a picture, or the source's loss") }
            return isStreaming
        }
    }
}
