import Media
package import Wire

/// The encoders of this machine, and whether they work. Each one is probed once and the result is kept.
package final class EncoderCatalogue: Sendable {
    private enum Probe: Sendable {
        case running
        case done(EncoderReport)
    }

    private struct State: Sendable {
        var probes: [String: Probe] = [:]
        /// Names in the order in which they were first probed.
        var order: [String] = []
    }

    /// The encoders that `auto` chooses from and the status lists. For each codec: hardware by preference, then
    /// software.
    private let entries: [EncoderEntry]
    /// Finds an encoder that `entries` does not contain.
    private let resolve: @Sendable (String) -> EncoderEntry?
    private let changed: @Sendable ([EncoderReport]) -> Void
    private let state = Monitor(State())

    /// - Parameters:
    ///   - entries: At least one software encoder for each codec.
    ///   - resolve: Finds an encoder that `entries` does not contain.
    ///   - changed: Called with all reports after each probe, in the thread that probed.
    package init(
        entries: [EncoderEntry],
        resolve: @escaping @Sendable (String) -> EncoderEntry? = { _ in nil },
        changed: @escaping @Sendable ([EncoderReport]) -> Void = { _ in }
    ) {
        self.entries = entries
        self.resolve = resolve
        self.changed = changed
    }

    package func entry(named name: String) -> EncoderEntry? {
        entries.first { $0.name == name } ?? resolve(name)
    }

    // MARK: - Probing

    /// The results so far.
    package var reports: [EncoderReport] {
        state.withLock { state in
            state.order.compactMap { name in
                if case .done(let report) = state.probes[name] { report } else { nil }
            }
        }
    }

    /// Probes every listed encoder that has not been probed yet, until `stop` is set.
    package func probeAll(stop: Event) {
        for entry in entries where !stop.isSet { _ = report(on: entry) }
    }

    /// Returns whether `entry` works here.
    ///
    /// The first call probes it, which takes seconds with some drivers. Other calls wait for that probe.
    package func report(on entry: EncoderEntry) -> EncoderReport {
        let known: EncoderReport? = state.wait { state in
            switch state.probes[entry.name] {
            case .done(let report): return .done(report)
            case .running: return .wait(until: nil)
            case nil:
                state.probes[entry.name] = .running
                state.order.append(entry.name)
                return .done(nil)
            }
        }
        if let known { return known }
        let reason = EncoderProbe.failure(of: entry)
        let report = EncoderReport(name: entry.name, codec: entry.codec, available: reason == nil, reason: reason)
        state.update { $0.probes[entry.name] = .done(report) }
        changed(reports)
        return report
    }

    // MARK: - Automatic choice

    /// Returns what `auto` chooses from, best first: hardware that is known to work by now, then software.
    func automaticChoices(for codec: Codec, _ chroma: ChromaSampling) -> [EncoderEntry] {
        let known = reports
        return entries.filter { entry in
            guard entry.codec == codec, entry.chroma.contains(chroma) else { return false }
            return entry.kind == .software || known.contains { $0.name == entry.name && $0.available }
        }
    }

    /// Returns why `auto` uses no hardware, for people; `nil` if it does or if there is no hardware to try.
    func softwareReason(for codec: Codec, _ chroma: ChromaSampling) -> String? {
        let hardware = entries.filter { $0.codec == codec && $0.kind == .hardware && $0.chroma.contains(chroma) }
        let known = reports
        let tried = hardware.compactMap { entry in known.first { $0.name == entry.name } }
        if hardware.isEmpty || tried.contains(where: \.available) { return nil }
        if tried.count < hardware.count { return "hardware encoders are still being tried" }
        return "no hardware encoder works here: "
            + tried.map { "\($0.name): \($0.reason ?? "")" }.joined(separator: "; ")
    }
}
