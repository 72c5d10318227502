import Foundation
import Glibc
import Media
import TestSupport

/// A broadcast of a PipeWire node that draws the counter at 1280x720, 30 a second, without a compositor.
final class NodeScene {
    private static let producer = "bench"
    private static let fps = 30

    let desktop: Desktop
    let relay: RelayProcess
    let agent: Int32

    /// - Parameters:
    ///   - isStill: Whether the node is static from the broadcast's start.
    ///   - environment: Variables for relay and agent, in addition to the desktop's, which runs by then.
    init(isStill: Bool, environment: (Desktop) throws -> [String: String] = { _ in [:] }) async throws {
        desktop = try Desktop(.none)
        do {
            let size = Workload(seconds: 1).size.description
            try desktop.startNode(Self.producer, size: size, fps: Self.fps, buffers: [])
            relay = try await RelayProcess(
                in: desktop,
                arguments: [
                    "--max-sessions", "1000", "--session-port-base", "0", "--max-viewers", "10000", "--max-connections",
                    "20000",
                    "--max-connections-per-address", "20000", "--log-level",
                    "warning",
                ],
                environment: environment(desktop)
            )
            let started = try await relay.post(
                "/screencapture/broadcast/start",
                ["timeout": 30, "source": ["kind": "node", "node": Self.producer] as RelayProcess.Object]
            )
            agent = Int32(started.object("agent").integer("pid"))
            guard isStill, let producer = desktop.processes(running: "counter-node").first else { return }
            _ = try await eventually("frames") {
                let heartbeat = try await relay.get("/screencapture/broadcast").object("heartbeat")
                return heartbeat.integer("framesReceived") > 0 ? true : nil
            }
            // Its buffers stay, so the screen is static.
            kill(producer, SIGSTOP)
        } catch {
            desktop.end()
            throw error
        }
    }

    func end() {
        for producer in desktop.processes(running: "counter-node") { kill(producer, SIGCONT) }
        relay.terminate()
        desktop.end()
    }

    /// Starts a session at the node's rate and size, and gives its id and its port.
    func startSession() async throws -> (id: Int, port: Int) {
        let session = try await relay.startSession(["framing": "scrcpy", "width": 1280, "height": 720, "fps": Self.fps])
        return (session.integer("id"), session.integer("port"))
    }

    /// Waits until the relay makes the repeats of these sessions.
    func settle(_ sessions: [Int]) async throws {
        for session in sessions {
            _ = try await eventually("session \(session) to settle", limit: .seconds(60)) {
                let agent = try await relay.get("/screencapture/\(session)").object("counters").object("agent")
                return agent.integer("skipped") > Self.fps ? true : nil
            }
        }
    }
}

/// The proportional set size (PSS) of a process, KiB.
func memory(of process: Int32) throws -> Double {
    let text = try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("Pss:") }
    return line?.split(separator: " ").compactMap { Double($0) }.first ?? .nan
}
