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

extension SourceError {
    /// What the want of a descriptor or a thread means for a source.
    init(_ shortage: ResourceShortage) {
        let cause =
            switch shortage {
            case .descriptors: "no_descriptors"
            case .threads: "no_threads"
            }
        self = .unavailable(cause: cause, detail: "\(shortage) The source is opened again.")
    }

    /// Runs `body`; what it throws becomes a source's error.
    static func explainingShortage<Value>(
        _ body: () throws(ResourceShortage) -> Value
    ) throws(SourceError) -> Value {
        do throws(ResourceShortage) {
            return try body()
        } catch {
            throw SourceError(error)
        }
    }
}
