import Foundation
import TestSupport

/// The results of one fault.
struct Episode: Sendable {
    var fault: String
    /// From the fault to the relay's first report of it, in ms; `nil` if it reported nothing.
    var detection: Double?
    /// The longest time between two decoded pictures, ms.
    var gap: Double
    /// The longest time without a picture of a newer screen, ms.
    var standstill: Double
    /// From the fault to the steady state after it, ms.
    var recovery: Double
    /// Slots without a picture when the broadcast's agent took over again.
    var missedOnReturn: Int
    var returns: Int
    var decodeErrors: Int
    var reconnects: Int
    /// How often a viewer had to connect again.
    var relayKills: Int
    var causes: [String: Int]
    /// The difference between after and before.
    var processes: Int
    var descriptors: Int
    var threads: Int
    /// KiB
    var memory: Int
    /// Notes of the fault.
    var note: String
    /// What went wrong, beside the figures.
    var failure: String?

    /// Injects `fault` into a steady rig and waits until it is steady again.
    static func of(_ fault: Fault, on rig: Rig) async throws -> Episode {
        let before = try await rig.steady()
        let held = try Held(rig)
        let state = rig.viewer.current
        let witness = fault.isLong ? nil : Witness(rig)
        try await Task.sleep(for: .milliseconds(60))
        let begin = monotonicNow()
        var (note, failure): (String, String?) = ("", nil)
        do {
            note = try await fault.happen(rig)
            try await rig.steady()
        } catch {
            failure = "\(error)"
        }
        let end = monotonicNow()
        let sights = await witness?.end() ?? []
        let after = try await rig.status()
        let now = rig.viewer.current
        let view = View(now.pictures, from: begin, to: end)
        let change = try await held.change(rig)
        let returns = Self.returns(sights)
        let noticed = sights.first { $0.time > begin && $0.status.map(Self.health) != Self.health(before) }
        let earlier = held.relay == rig.relay.pid ? before.switchCauses : [:]
        let causes = after.switchCauses.merging(earlier) { $0 - $1 }.filter { $0.value > 0 }
        let decodeErrors = now.complaints.count - state.complaints.count + view.undecoded
        let missed = returns.reduce(0) { $0 + view.missedSlots(before: $1) }
        return Episode(
            fault: fault.name,
            detection: noticed.map { Double($0.time - begin) / 1e6 },
            gap: view.gap,
            standstill: view.standstill,
            recovery: Double(end - begin) / 1e6,
            missedOnReturn: missed,
            returns: returns.count,
            decodeErrors: decodeErrors,
            reconnects: now.reconnects - state.reconnects,
            relayKills: fault.relayKills,
            causes: causes,
            processes: change.processes,
            descriptors: change.descriptors,
            threads: change.threads,
            memory: change.memory,
            note: [note, change.leftOver].filter { !$0.isEmpty }.joined(separator: "; "),
            failure: failure ?? now.complaints.dropFirst(state.complaints.count).first
        )
    }

    /// The part of the status that changes when the relay notices a fault.
    private static func health(_ status: Status) -> [String] {
        [
            status.state, "\(status.agent)", "\(status.isLinked)", status.sourceState ?? "", "\(status.standby)",
            status.standbyState ?? "", status.standbySource ?? "", status.feed ?? "", "\(status.switches)",
        ]
    }

    /// When the broadcast's agent was first seen to feed the session again.
    private static func returns(_ sights: [Witness.Sight]) -> [Int64] {
        zip(sights, sights.dropFirst()).filter {
            ($1.status?.switchCauses["returned"] ?? 0) > ($0.status?.switchCauses["returned"] ?? 0)
        }.map(\.1.time)
    }
}

/// A viewer's pictures between two instants.
struct View {
    private let pictures: [SteadyViewer.Picture]
    private let end: Int64

    init(_ pictures: [SteadyViewer.Picture], from begin: Int64, to end: Int64) {
        // The last picture before the fault is where the gap begins.
        let first = pictures.lastIndex { $0.arrived <= begin } ?? 0
        self.pictures = pictures[first...].filter { $0.arrived <= end }
        self.end = end
    }

    /// The longest time between the arrivals of two decoded pictures, ms. (The decoder returns a picture when the next
    /// one comes.)
    var gap: Double { longest(pictures.filter { $0.decoded != nil }.map(\.arrived)) }

    /// The longest time between pictures with a value that was not shown before, ms.
    var standstill: Double {
        var newest = Int.min
        var times: [Int64] = []
        for picture in pictures {
            guard let counter = picture.counter else { continue }
            // A counter that is started again begins at 0.
            guard counter > newest || counter < newest - 60 else { continue }
            newest = counter
            times.append(picture.arrived)
        }
        return longest(times)
    }

    /// Pictures that never came out of the decoder although later ones did.
    var undecoded: Int {
        guard let last = pictures.lastIndex(where: { $0.decoded != nil }) else { return 0 }
        return pictures[...last].count { $0.decoded == nil }
    }

    /// Slots without a picture next to the keyframe of the last switch before `instant`.
    func missedSlots(before instant: Int64) -> Int {
        guard let key = pictures.lastIndex(where: { $0.isKeyframe && $0.arrived <= instant }), key > 0 else { return 0 }
        let around = pictures[(key - 1)...].prefix(3).map { slot($0.pts) }
        return zip(around, around.dropFirst()).reduce(0) { $0 + max(0, $1.1 - $1.0 - 1) }
    }

    private func slot(_ pts: Int64) -> Int { Int((Double(pts) * Double(Rig.fps) / 1e6).rounded()) }

    private func longest(_ times: [Int64]) -> Double {
        Double(zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0) / 1e6
    }
}

extension Episode {
    /// The episode of a fault that could not begin, or that has no result.
    static func broken(_ fault: Fault, _ failure: String) -> Episode {
        Episode(
            fault: fault.name,
            gap: 0,
            standstill: 0,
            recovery: 0,
            missedOnReturn: 0,
            returns: 0,
            decodeErrors: 0,
            reconnects: 0,
            relayKills: fault.relayKills,
            causes: [:],
            processes: 0,
            descriptors: 0,
            threads: 0,
            memory: 0,
            note: "",
            failure: failure
        )
    }

    var isGood: Bool { failure == nil && decodeErrors == 0 && reconnects <= relayKills && processes <= 0 }

    /// Returns one line for the person who watches.
    var line: String {
        let detection = detection.map { String(format: "%.0f", $0) } ?? "–"
        let figures = String(format: "gap %.0f, without news %.0f, steady after %.0f ms", gap, standstill, recovery)
        return
            "\(fault): noticed after \(detection) ms, \(figures); missed on return \(missedOnReturn), decode errors \(decodeErrors), "
            + "reconnects \(reconnects), left over \(processes) \(descriptors) \(threads), \(memory) KiB, \(causes) \(note) "
            + (failure.map { "FAILED: \($0)" } ?? "")
    }
}
