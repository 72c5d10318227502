package import NIOCore

extension TimeAmount {
    /// The amount in milliseconds, fractions included.
    var milliseconds: Double { Double(nanoseconds) / 1e6 }

    /// The amount in seconds, fractions included.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// Creates an amount from `seconds`, to the nanosecond. It is limited to 292 years; NaN counts as 0.
    package init(seconds: Double) {
        let nanoseconds = (seconds * 1e9).rounded(.towardZero)
        self = .nanoseconds(Int64(exactly: nanoseconds) ?? (nanoseconds > 0 ? .max : nanoseconds < 0 ? .min : 0))
    }
}

extension Double {
    /// Returns the number rounded to `places` decimals, for figures that people read.
    func rounded(places: Int) -> Double {
        var factor = 1.0
        for _ in 0..<places { factor *= 10 }
        return (self * factor).rounded() / factor
    }
}
