import CommandSupport
import HeliographAPI

/// Formats answers as lines for people.
enum Summary {
    static func text(of status: BroadcastReport) -> String {
        var line = "\(status.device): \(status.state) since \(status.since)"
        if let agent = status.agent { line += ", agent \(agent.pid)\(agent.managed ? "" : " (not the relay's own)")" }
        line += ", source \(text(of: status.source))"
        if let frames = status.heartbeat?.rates.framesReceived { line += ", \(Figure.text(frames)) frames/s in" }
        line += restarts(status.restarts)
        var lines =
            [line] + (status.agent == nil ? status.lastExit.map { ["  the last agent: \($0.text)"] } ?? [] : [])
            + (status.input.map { ["  " + text(of: $0)] } ?? [])
            + (status.audio.map { ["  " + text(of: $0)] } ?? [])
            + status.sessions.map { "  " + text(of: $0) }
        if let tls = status.tls { lines.append("TLS until \(tls.expires), SHA-256 fingerprint \(tls.fingerprint)") }
        return lines.joined(separator: "\n")
    }

    private static func restarts(_ count: Int) -> String {
        count == 0 ? "" : count == 1 ? ", restarted once" : ", restarted \(count) times"
    }

    static func text(of input: InputDevicesReport) -> String {
        if let problem = input.problem { return "input: none. \(problem)" }
        let devices = [(input.pointer, "pointer"), (input.keyboard, "keyboard"), (input.touch, "touch")]
        return "input: \(input.backend), \(devices.filter { $0.0 }.map { $0.1 }.joined(separator: ", "))"
    }

    static func text(of audio: AudioReport) -> String {
        if let problem = audio.problem { return "audio: none. \(problem)" }
        return audio.agent.map { "audio: sent by the \($0) agent" } ?? "audio: no viewer listens"
    }

    static func text(of broadcast: BroadcastSummary) -> String {
        var line = "\(broadcast.device): \(broadcast.state), source \(text(of: broadcast.source))"
        line += restarts(broadcast.restarts)
        return line + ", sessions: \(broadcast.sessions), viewers: \(broadcast.viewers)"
    }

    static func text(of source: SourceReport) -> String {
        var text = source.kind
        if let width = source.width, let height = source.height { text += " \(width)x\(height)" }
        if let state = source.state, state != "streaming" { text += " (\(state))" }
        // The detail becomes part of a sentence.
        if let detail = source.detail { text += ": \(detail.hasSuffix(".") ? String(detail.dropLast()) : detail)" }
        return text
    }

    static func text(of session: SessionReport) -> String {
        let size = size(width: session.width, height: session.height)
        var line = "\(name(of: session.id, session.name)): \(session.codec) \(size)@\(session.fps)"
        if let encoder = session.encoder { line += " by \(encoder)" }
        line += ", tcp port \(session.port) (\(session.framing))"
        if let port = session.audioPort { line += ", sound on \(port)" }
        line += ", \(session.viewers) viewer\(session.viewers == 1 ? "" : "s")"
        if let rates = session.rates {
            line += ", \(Figure.text(rates.pictures)) pictures/s (\(Figure.text(rates.repeats)) repeats)"
            line += ", \(Figure.text(rates.bitrate / 1e6, places: 2)) Mbit/s"
            if let encode = rates.encodeMs { line += ", \(Figure.text(encode, places: 2)) ms per picture" }
        } else if session.feed == "none" {
            line += ", no pictures yet"
        }
        if let error = session.error { line += ", failed: \(error)" }
        return line
    }

    static func text(of session: BriefSession) -> String {
        var line = "\(name(of: session.id, session.name)): device \(session.device), \(session.state)"
        line += ", tcp port \(session.port), \(session.viewers) viewer\(session.viewers == 1 ? "" : "s")"
        return line + (session.label.map { ", \($0)" } ?? "")
    }

    /// Returns a session's id, with its name if it has one.
    static func name(of id: UInt32, _ name: String?) -> String {
        "session \(id)" + (name.map { " (\($0))" } ?? "")
    }

    static func text(of template: TemplateReport) -> String {
        "\(template.device): template \(template.name), \(template.width)x\(template.height), \(template.bytes) bytes"
    }

    static func text(of event: EventReport) -> String {
        var line = "\(event.at) \(event.type)"
        if let device = event.device { line += " device \(device)" }
        if let id = event.session { line += " \(name(of: id, event.name))" }
        return line + (event.state.map { ": \($0)" } ?? "")
    }

    /// Returns the size. A missing side follows the source.
    private static func size(width: Int?, height: Int?) -> String {
        if width == nil, height == nil { return "source size" }
        return [width, height].map { $0.map(String.init) ?? "*" }.joined(separator: "x")
    }

    /// Returns `value` without trailing zeros, such as `0.5` or `30`.
    static func shortest(_ value: Double) -> String {
        Int(exactly: value).map(String.init) ?? "\(value)"
    }
}
