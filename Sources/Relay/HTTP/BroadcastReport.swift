import FoundationEssentials
import Media
import NIOCore
import Wire

/// A broadcast as the API shows it, made of figures that are read on the media loop: for hundreds of sessions that takes longer than
/// pictures may wait.
enum BroadcastReport {
    /// What there is to say of one of a device's agents at one moment.
    struct AgentReading: Sendable {
        fileprivate let machine: AgentLifecycle
        fileprivate let heartbeats: HeartbeatHistory
        fileprivate let encoders: [EncoderReport]?
        fileprivate let linksAdmitted: Int
        /// Nil without a link.
        fileprivate let received: (bytes: Int, last: NIODeadline)?

        @MediaLoop
        init(_ agent: AgentSupervisor) {
            machine = agent.machine
            heartbeats = agent.heartbeats
            encoders = agent.encoders
            linksAdmitted = agent.linksAdmitted
            received = agent.link.map { ($0.bytesReceived, $0.lastByte) }
        }
    }

    /// The answer to a start. Without timings it was running already.
    @MediaLoop
    static func started(_ broadcast: Broadcast, timings: StartTimings?) -> JSONValue {
        let machine = broadcast.machine
        return [
            "device": .string(broadcast.device.name),
            "state": .string(machine.state.rawValue),
            "agent": agent(machine),
            "source": source(machine),
            "timings": timings.map(json) ?? nil,
            "alreadyRunning": .bool(timings == nil),
        ]
    }

    /// What a listing shows.
    @MediaLoop
    static func summary(_ broadcast: Broadcast, sessions: [Session]) -> JSONValue {
        let machine = broadcast.machine
        return [
            "device": .string(broadcast.device.name),
            "state": .string(machine.state.rawValue),
            "since": .string(Self.wallClock(of: machine.since)),
            "source": source(machine),
            "restarts": .integer(machine.restarts),
            "sessions": .integer(sessions.count),
            "viewers": .integer(sessions.reduce(0) { $0 + $1.viewerCount }),
        ]
    }

    /// - Parameter sessions: As ``SessionReport`` has them.
    static func status(
        device: String,
        _ broadcast: AgentReading,
        standby: AgentReading,
        sessions: [JSONValue],
        tls: TLSServer?
    ) -> JSONValue {
        let machine = broadcast.machine
        return [
            "device": .string(device),
            "state": .string(machine.state.rawValue),
            "since": .string(Self.wallClock(of: machine.since)),
            "ttl": JSONValue(machine.ttl),
            "agent": agent(machine),
            "source": source(machine),
            "encoders": JSONValue(broadcast.encoders?.map(json)),
            "heartbeat": heartbeat(broadcast.heartbeats),
            "link": link(broadcast),
            "restarts": .integer(machine.restarts),
            "lastExit": machine.lastExit.map(json) ?? nil,
            "standby": Self.standby(standby),
            "tls": TLSReport.json(tls),
            "sessions": .array(sessions),
        ]
    }

    /// Null where none runs.
    private static func standby(_ standby: AgentReading) -> JSONValue {
        let machine = standby.machine
        guard machine.state != .idle else { return nil }
        return [
            "state": .string(machine.state.rawValue),
            "since": .string(wallClock(of: machine.since)),
            "agent": agent(machine),
            "source": source(machine),
            "heartbeat": heartbeat(standby.heartbeats),
            "link": link(standby),
            "restarts": .integer(machine.restarts),
            "lastExit": machine.lastExit.map(json) ?? nil,
        ]
    }

    private static func agent(_ machine: AgentLifecycle) -> JSONValue {
        guard let hello = machine.agent?.hello else { return nil }
        return [
            "pid": JSONValue(hello.pid),
            "release": .string(hello.release),
            "source": .string(hello.source),
            "managed": .bool(machine.isManaged),
        ]
    }

    private static func source(_ machine: AgentLifecycle) -> JSONValue {
        let status = machine.agent?.status
        return [
            "kind": .string(machine.agent.map { $0.status?.kind ?? $0.hello.source } ?? machine.source.kind.rawValue),
            "state": JSONValue(status?.state.rawValue),
            "cause": JSONValue(status?.cause),
            "detail": JSONValue(status?.detail),
            "width": JSONValue(status?.size?.width),
            "height": JSONValue(status?.size?.height),
            "orientation": JSONValue(status?.orientation),
        ]
    }

    private static func heartbeat(_ history: HeartbeatHistory) -> JSONValue {
        guard let latest = history.latest, let received = history.received else { return nil }
        return [
            "ageMs": .number((NIODeadline.now() - received).milliseconds.rounded(places: 0)),
            "framesReceived": JSONValue(latest.framesReceived),
            "buffersSkipped": JSONValue(latest.buffersSkipped),
            "framesCopied": JSONValue(latest.framesCopied),
            "linkQueuedBytes": JSONValue(latest.linkQueuedBytes),
            "rates": ["framesReceived": JSONValue(history.framesReceivedPerSecond?.rounded(places: 2))],
            "sessions": .array(
                latest.sessions.map { figures in
                    [
                        "id": JSONValue(figures.session),
                        "encoder": SessionReport.encoderName(figures),
                        "encoderReason": JSONValue(figures.encoderReason),
                        "encoderRestarts": JSONValue(figures.counters.encoderRestarts),
                        "counters": SessionReport.agentCounters(figures),
                        "rates": SessionReport.rates(history.rates(of: figures.session)),
                    ]
                }
            ),
        ]
    }

    private static func json(_ report: EncoderReport) -> JSONValue {
        [
            "name": .string(report.name),
            "codec": .string(report.codec.rawValue),
            "available": .bool(report.available),
            "reason": JSONValue(report.reason),
        ]
    }

    private static func link(_ agent: AgentReading) -> JSONValue {
        let received = agent.received
        return [
            "connected": .bool(received != nil),
            "bytes": JSONValue(received?.bytes),
            "lastByteMsAgo": JSONValue(received.map { (NIODeadline.now() - $0.last).milliseconds.rounded(places: 1) }),
            "reconnects": .integer(max(0, agent.linksAdmitted - 1)),
        ]
    }

    private static func json(_ exit: AgentExit) -> JSONValue {
        var (status, signal): (Int?, Int?)
        switch exit.cause {
        case .status(let value): status = value
        case .signal(let value): signal = value
        case .notStarted, .unknown: break
        }
        return [
            "exitStatus": JSONValue(status),
            "signal": JSONValue(signal),
            "lastLine": JSONValue(exit.lastLine),
            "text": .string("\(exit)"),
        ]
    }

    private static func json(_ timings: StartTimings) -> JSONValue {
        func milliseconds(_ amount: TimeAmount?) -> JSONValue { JSONValue(amount?.milliseconds.rounded(places: 1)) }
        let stages = timings.agent.sorted { $0.key < $1.key }
        return [
            "spawnMs": milliseconds(timings.spawn),
            "helloMs": milliseconds(timings.hello),
            "sourceMs": milliseconds(timings.source),
            "totalMs": milliseconds(timings.total),
            "agent": .object(stages.map { .init(name: $0.key, value: .number($0.value.rounded(places: 1))) }),
        ]
    }

    static func wallClock(of instant: NIODeadline) -> String {
        Date(timeIntervalSinceNow: (instant - .now()).seconds).apiText
    }
}

extension Date {
    /// ISO 8601 with milliseconds, UTC.
    var apiText: String { formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)) }
}
