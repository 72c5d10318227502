package import NIOCore

extension TimeAmount {
    /// The amount in milliseconds, fractions included.
    var milliseconds: Double { Double(nanoseconds) / 1e6 }

    /// The amount in seconds, fractions included.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// `seconds` to the nanosecond. What is more than 292 years counts as that, and what is no number as none.
    package init(seconds: Double) {
        let nanoseconds = (seconds * 1e9).rounded(.towardZero)
        self = .nanoseconds(Int64(exactly: nanoseconds) ?? (nanoseconds > 0 ? .max : nanoseconds < 0 ? .min : 0))
    }
}

extension Double {
    /// Rounded to `places` decimals, for figures that people read.
    func rounded(places: Int) -> Double {
        var factor = 1.0
        for _ in 0..<places { factor *= 10 }
        return (self * factor).rounded() / factor
    }
}
