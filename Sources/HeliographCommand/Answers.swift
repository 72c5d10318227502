/// The relay's answers, as far as this command shows them.
struct ProblemAnswer: Decodable {
    let code: String
    let detail: String
}

struct StartAnswer: Decodable {
    struct Agent: Decodable {
        let pid: Int
        let managed: Bool
    }

    struct Timings: Decodable {
        let totalMs: Double
    }

    let device: String
    let agent: Agent?
    let source: SourceAnswer
    let timings: Timings?
    let alreadyRunning: Bool
}

struct StopAnswer: Decodable {
    let device: String
    let wasRunning: Bool
}

struct SourceAnswer: Decodable {
    let kind: String
    let state: String?
    let detail: String?
    let width: Int?
    let height: Int?
}

struct StatusAnswer: Decodable {
    struct Heartbeat: Decodable {
        struct Rates: Decodable {
            let framesReceived: Double?
        }

        let rates: Rates
    }

    let device: String
    let state: String
    let since: String
    let agent: StartAnswer.Agent?
    let source: SourceAnswer
    let heartbeat: Heartbeat?
    let restarts: Int
    let sessions: [SessionAnswer]
    let tls: TLSAnswer?
}

struct TLSAnswer: Decodable {
    let fingerprint: String
    let expires: String
}

struct DevicesAnswer: Decodable {
    struct Broadcast: Decodable {
        let device: String
        let state: String
        let source: SourceAnswer
        let restarts: Int
        let sessions: Int
        let viewers: Int
    }

    let broadcasts: [Broadcast]
}

struct SessionAnswer: Decodable {
    struct Rates: Decodable {
        let pictures: Double
        let repeats: Double
        let bitrate: Double
        let encodeMs: Double?
    }

    let id: UInt32
    let codec: String
    let framing: String
    let width: Int?
    let height: Int?
    let fps: Int
    let port: Int
    let viewers: Int
    let source: String
    let encoder: String?
    let error: String?
    let rates: Rates?
}

struct WaitAnswer: Decodable {
    let id: UInt32
    let pts: Int64
    let stillMs: Double
    let waitedMs: Double
}
