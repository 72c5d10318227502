/// How many of a picture's pixels have a colour of their own; all have a brightness. The raw value is the usual ratio.
package enum ChromaSampling: String, Sendable, Hashable, Codable, CaseIterable {
    /// Four pixels share one: 4:2:0.
    case quarter = "420"
    /// Each pixel has one: 4:4:4.
    case full = "444"
}
