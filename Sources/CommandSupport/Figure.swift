/// Numbers for people.
package enum Figure {
    /// Returns `value` with a fixed number of decimals. Figures beyond an integer saturate, because they come from an
    /// agent.
    package static func text(_ value: Double, places: Int = 1) -> String {
        var factor = 1
        for _ in 0..<places { factor *= 10 }
        let rounded = (value * Double(factor)).rounded()
        let scaled = Int(exactly: rounded) ?? (rounded < 0 ? .min : .max)
        if places == 0 { return String(scaled) }
        let fraction = String(scaled.magnitude % UInt(factor))
        let zeros = String(repeating: "0", count: places - fraction.count)
        return "\(scaled < 0 ? "-" : "")\(scaled.magnitude / UInt(factor)).\(zeros)\(fraction)"
    }
}
