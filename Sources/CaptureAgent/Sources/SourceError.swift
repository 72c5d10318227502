extension SourceError {
    /// Translates an error of a D-Bus call into a source's error.
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

    /// Runs `body` and translates what it throws into a source's error.
    static func explainingBus<Value>(_ body: () throws(BusError) -> Value) throws(SourceError) -> Value {
        do throws(BusError) {
            return try body()
        } catch {
            throw SourceError(bus: error)
        }
    }
}

extension SourceError {
    /// Translates a missing descriptor or thread into a source's error.
    init(_ shortage: ResourceShortage) {
        let cause =
            switch shortage {
            case .descriptors: "no_descriptors"
            case .threads: "no_threads"
            }
        self = .unavailable(cause: cause, detail: "\(shortage) The source is opened again.")
    }

    /// Runs `body` and translates what it throws into a source's error.
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
