import CInput

/// The rumble effects that applications have given a uinput device, and which of them play. A pure value.
package struct RumbleEffects: Sendable {
    private struct Effect {
        var strong: UInt16
        var weak: UInt16
        /// How long it plays, in ns; 0 for until it is stopped.
        var length: UInt64
        /// How long it waits before, in ns.
        var delay: UInt64
    }

    private struct Play {
        var begin: UInt64
        /// `nil` for until it is stopped.
        var end: UInt64?
    }

    /// Sizes of struct uinput_ff_upload and struct uinput_ff_erase; `CInput.c` checks the layout.
    package static let (uploadByteCount, eraseByteCount) = (104, 12)
    private static let effect = 8
    /// EINVAL of errno-base.h, as the kernel returns it.
    package static let invalid: Int32 = -22

    private var effects: [Int16: Effect] = [:]
    private var plays: [Int16: Play] = [:]
    private var gain: UInt64 = 0xFFFF

    package init() {}

    /// Accepts an effect.
    ///
    /// - Parameter request: struct uinput_ff_upload.
    /// - Returns: 0, or the error number for the application.
    package mutating func upload(_ request: [UInt8]) -> Int32 {
        guard let type: UInt16 = request.host(at: Self.effect), type == UInt16(FF_RUMBLE),
            let id: Int16 = request.host(at: Self.effect + 2), (0..<Int16(XboxReport.effectLimit)).contains(id),
            let length: UInt16 = request.host(at: Self.effect + 10),
            let delay: UInt16 = request.host(at: Self.effect + 12),
            let strong: UInt16 = request.host(at: Self.effect + 16),
            let weak: UInt16 = request.host(at: Self.effect + 18)
        else { return Self.invalid }
        effects[id] = Effect(
            strong: strong,
            weak: weak,
            length: UInt64(length) * 1_000_000,
            delay: UInt64(delay) * 1_000_000
        )
        return 0
    }

    /// Forgets an effect.
    ///
    /// - Parameter request: struct uinput_ff_erase.
    /// - Returns: 0, or the error number for the application.
    package mutating func erase(_ request: [UInt8]) -> Int32 {
        guard let number: UInt32 = request.host(at: 8), let id = Int16(exactly: number) else { return Self.invalid }
        (effects[id], plays[id]) = (nil, nil)
        return 0
    }

    /// Follows an EV_FF event: an effect to play or to stop, or the gain of all.
    ///
    /// - Parameter now: monotonic ns.
    package mutating func take(_ event: InputEvent, now: UInt64) {
        if event.code == UInt16(FF_GAIN) {
            gain = UInt64(min(max(event.value, 0), 0xFFFF))
            return
        }
        guard let id = Int16(exactly: event.code), let effect = effects[id] else { return }
        guard event.value > 0 else {
            plays[id] = nil
            return
        }
        let begin = now + effect.delay
        // Applications that want an effect for ever ask for it INT32_MAX times: years suffice.
        let length = effect.length * UInt64(min(event.value, 0xFFFF))
        plays[id] = Play(begin: begin, end: effect.length == 0 ? nil : begin + length)
    }

    /// Returns how strong the motors are now.
    ///
    /// - Parameter now: monotonic ns.
    /// - Returns: 0 to 65535 each, and when that changes by itself; `nil` for never.
    package func motors(now: UInt64) -> (strong: UInt16, weak: UInt16, change: UInt64?) {
        var (strong, weak) = (UInt64(0), UInt64(0))
        var change: UInt64?
        for (id, play) in plays {
            guard let effect = effects[id], play.end.map({ $0 > now }) ?? true else { continue }
            let next = play.begin > now ? play.begin : play.end
            if let next { change = min(change ?? next, next) }
            guard play.begin <= now else { continue }
            strong += UInt64(effect.strong)
            weak += UInt64(effect.weak)
        }
        func scaled(_ sum: UInt64) -> UInt16 { UInt16(min(sum, 0xFFFF) * gain / 0xFFFF) }
        return (scaled(strong), scaled(weak), change)
    }
}
