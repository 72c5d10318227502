extension SourceError {
    /// What a failed conversation on the session bus means for a source, whoever the peer.
    init(bus error: BusError) {
        switch error {
        case .noBus(let reason):
            self = .unavailable(
                cause: "bus_unavailable",
                detail: "There is no D-Bus session bus (\(reason)). Start the agent inside the desktop's session."
            )
        case .refused(let name, let message):
            self = .refused(cause: "bus_refused", detail: "The desktop refused: \(message) (\(name)).")
        case .timeout:
            self = .timeout(cause: "bus_timeout", detail: "The desktop did not answer in time.")
        case .stopped:
            self = .lost(cause: "stopped", detail: "The agent is ending.")
        case .malformed(let reason):
            self = .refused(cause: "bus_protocol", detail: "The desktop's answer was not understood: \(reason).")
        }
    }

    /// Runs `body`; what it throws becomes a source's error.
    static func explainingBus<Value>(_ body: () throws(BusError) -> Value) throws(SourceError) -> Value {
        do throws(BusError) {
            return try body()
        } catch {
            throw SourceError(bus: error)
        }
    }
}
