package import NIOCore

extension TimeAmount {
    /// The amount in milliseconds, fractions included.
    var milliseconds: Double { Double(nanoseconds) / 1e6 }

    /// The amount in seconds, fractions included.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// `seconds` to the nanosecond; at most 292 years.
    package init(seconds: Double) { self = .nanoseconds(Int64(seconds * 1e9)) }
}

extension Double {
    /// Rounded to `places` decimals, for figures that people read.
    func rounded(places: Int) -> Double {
        var factor = 1.0
        for _ in 0..<places { factor *= 10 }
        return (self * factor).rounded() / factor
    }
}
