import Foundation
import Media
import TestSupport

/// The contenders. All encode with x264's preset ultrafast and tune zerolatency at CRF 23 under one cap, with a
/// keyframe every 2 s.
enum Contender: String, CaseIterable {
    case heliograph
    case gstreamer
    /// With the elements that keep the frame rate on a static screen.
    case gstreamerConstant = "gstreamer-constant"
    case wfRecorder = "wf-recorder"
    /// x11grab.
    case ffmpeg
    /// The bare loop; on a static screen, it writes a small packet for each slot.
    case limit
    /// The bare loop that encodes a static picture for each slot.
    case limitEncoding = "limit-encoding"

    /// The contenders that can handle a scene.
    static func all(for scene: Workload.Scene) -> [Contender] {
        allCases.filter { contender in
            switch contender {
            case .gstreamerConstant: scene == .still || scene == .typing
            case .limitEncoding: scene == .still
            default: true
            }
        }
    }

    var isPeer: Bool { self != .heliograph && !isLimit }

    var isLimit: Bool { self == .limit || self == .limitEncoding }

    /// The peer's command, which sends Annex B to a port of loopback.
    ///
    /// - Parameters:
    ///   - portalExec: The program of Tests/Desktop that asks the portal for a screencast.
    ///   - display: The X server.
    func command(_ workload: Workload, port: String, portalExec: String, display: String) -> [String] {
        let (kilobits, keyframes) = (workload.bitrate / 1000, workload.fps * 2)
        switch self {
        case .gstreamer, .gstreamerConstant:
            let interval = 1000 / workload.fps
            let constant = self == .gstreamerConstant
            return [portalExec]
                + """
                gst-launch-1.0 -q pipewiresrc fd={fd} path={node} do-timestamp=true\(constant ? " keepalive-time=\(interval)" : "")
                ! videoconvert\(constant ? " ! videorate ! video/x-raw,framerate=\(workload.fps)/1" : "")
                ! x264enc tune=zerolatency speed-preset=ultrafast pass=qual quantizer=23 bitrate=\(kilobits) vbv-buf-capacity=500
                key-int-max=\(keyframes) ! video/x-h264,stream-format=byte-stream ! tcpclientsink host=127.0.0.1 port=\(port) sync=false
                """.split { $0 == " " || $0 == "\n" }.map(String.init)
        case .wfRecorder:
            // Without the cap: by its time base, x264 would apply it to each microsecond.
            return """
                wf-recorder -c libx264 -F format=yuv420p -m h264 -p preset=ultrafast -p tune=zerolatency -p crf=23 -p g=\(keyframes)
                -f tcp://127.0.0.1:\(port)
                """.split { $0 == " " || $0 == "\n" }.map(String.init)
        case .ffmpeg:
            return """
                ffmpeg -nostdin -v error -f x11grab -draw_mouse 0 -framerate \(workload.fps) -video_size \(workload.size) -i \(display)
                -pix_fmt yuv420p -c:v libx264 -preset ultrafast -tune zerolatency -crf 23 -maxrate \(kilobits)k -bufsize \(kilobits / 2)k
                -g \(keyframes) -flush_packets 1 -f h264 tcp://127.0.0.1:\(port)
                """.split { $0 == " " || $0 == "\n" }.map(String.init)
        case .heliograph, .limit, .limitEncoding: return []
        }
    }
}

/// A contender that runs and sends pictures.
protocol Running {
    /// All of its processes.
    var processes: [(name: String, pid: Int32)] { get }
    /// The stream that its consumer gets.
    var reader: StreamReader { get }
    func end() async
}

/// A peer: one process, whose output goes to a TCP connection on loopback.
final class RunningPeer: Running {
    let reader: StreamReader
    private let process: Process

    init(_ contender: Contender, _ workload: Workload, on desktop: Desktop) async throws {
        let sink = try Sink()
        let command = contender.command(
            workload,
            port: String(sink.port),
            portalExec: desktop.directory.appendingPathComponent("bin/portal-exec").path,
            display: try desktop.environment()["DISPLAY"] ?? ""
        )
        process = desktop.process(command[0], Array(command.dropFirst()))
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try Programs.start(process)
        let process = process
        do {
            reader = try await sink.accept { process.isRunning }
        } catch {
            process.terminate()
            throw error
        }
    }

    // Tests/Desktop/desktop, portal-exec and setpriv become the program.
    var processes: [(name: String, pid: Int32)] { [("peer", process.processIdentifier)] }

    func end() async {
        kill(process.processIdentifier, SIGINT)
        let process = process
        let ended = try? await eventually("the peer's end", limit: .seconds(3)) { process.isRunning ? nil : true }
        if ended == nil { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
    }
}

/// A broadcast of the desktop's portal with its standby, and a session with one viewer on its TCP port.
final class RunningHeliograph: Running {
    let reader: StreamReader
    let relay: RelayProcess
    let session: Int
    private let desktop: Desktop
    private let agent: Int32

    init(_ workload: Workload, on desktop: Desktop, relay: RelayProcess) async throws {
        self.relay = relay
        self.desktop = desktop
        let started = try await relay.post("/screencapture/broadcast/start", ["timeout": 30])
        agent = Int32(started.object("agent").integer("pid"))
        let object = try await relay.startSession([
            "width": workload.size.width, "height": workload.size.height, "fps": workload.fps,
            "bitrate": workload.bitrate,
        ])
        session = object.integer("id")
        reader = StreamReader(try Connection(port: object.integer("port")).descriptor)
        _ = try await eventually("the standby") {
            try await relay.get("/screencapture/broadcast").object("standby").string("state") == "live" ? true : nil
        }
    }

    var processes: [(name: String, pid: Int32)] {
        let agents = desktop.processes(running: "capture-agent").map { ($0 == agent ? "agent" : "standby", $0) }
        return [("relay", relay.pid)] + agents
    }

    func end() async {
        _ = try? await relay.post("/screencapture/stop")
        _ = try? await relay.post("/screencapture/broadcast/stop")
    }
}
