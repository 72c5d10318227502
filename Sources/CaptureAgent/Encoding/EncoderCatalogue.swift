import Media
package import Wire

/// The encoders of this machine, and whether they work: each is probed once, and the answer kept.
package final class EncoderCatalogue: Sendable {
    private enum Probe: Sendable {
        case running
        case done(EncoderReport)
    }

    private struct State: Sendable {
        var probes: [String: Probe] = [:]
        /// Names in the order of their first probe.
        var order: [String] = []
    }

    /// Those that `auto` chooses from, and that the status lists: of each codec the hardware by preference, then software.
    private let entries: [EncoderEntry]
    /// Finds an encoder that is not listed.
    private let resolve: @Sendable (String) -> EncoderEntry?
    private let changed: @Sendable ([EncoderReport]) -> Void
    private let state = Monitor(State())

    /// - Parameters:
    ///   - entries: At least one software encoder of each codec.
    ///   - resolve: Finds an encoder that `entries` lacks.
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

    /// What is known so far.
    package var reports: [EncoderReport] {
        state.withLock { state in
            state.order.compactMap { name in
                if case .done(let report) = state.probes[name] { report } else { nil }
            }
        }
    }

    /// Probes every listed encoder that was not yet probed, until `stop` is set.
    package func probeAll(stop: Event) {
        for entry in entries where !stop.isSet { _ = report(on: entry) }
    }

    /// Whether `entry` works here. The first call probes it, which takes up to seconds with some drivers; others wait for it.
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

    /// What `auto` chooses from for `codec`, best first: the hardware that is known to work by now, then software.
    func automaticChoices(for codec: Codec) -> [EncoderEntry] {
        let known = reports
        return entries.filter { entry in
            guard entry.codec == codec else { return false }
            return entry.kind == .software || known.contains { $0.name == entry.name && $0.available }
        }
    }

    /// Why `auto` takes no hardware for `codec`, for a person; nil when it does, or there is none to try.
    func softwareReason(for codec: Codec) -> String? {
        let hardware = entries.filter { $0.codec == codec && $0.kind == .hardware }
        let known = reports
        let tried = hardware.compactMap { entry in known.first { $0.name == entry.name } }
        if hardware.isEmpty || tried.contains(where: \.available) { return nil }
        if tried.count < hardware.count { return "hardware encoders are still being tried" }
        return "no hardware encoder works here: "
            + tried.map { "\($0.name): \($0.reason ?? "")" }.joined(separator: "; ")
    }
}
