/// How loud a unit of sound is: the root mean square of its samples, relative to full scale.
package struct SoundLevel: Sendable, Equatable, Comparable {
    package static let range = -120.0...0

    /// In dB, -120 to 0. A sine at full scale has -3.
    package let decibels: Double

    /// - Parameter decibels: Values outside the range become its bounds, and NaN the loudest.
    package init(decibels: Double) {
        self.decibels =
            decibels.isNaN ? Self.range.upperBound : min(Self.range.upperBound, max(Self.range.lowerBound, decibels))
    }

    /// - Parameter code: A ``code``; `nil` if it is 0, which stands for an unknown level.
    package init?(code: UInt16) {
        if code == 0 { return nil }
        self.init(decibels: (1 - Double(code)) / 100)
    }

    /// The level in 16 bits: 1 more than hundredths of a dB below full scale.
    package var code: UInt16 { UInt16(exactly: (1.0).addingProduct(decibels, -100).rounded()) ?? .max }

    package static func < (one: SoundLevel, other: SoundLevel) -> Bool { one.decibels < other.decibels }
}
