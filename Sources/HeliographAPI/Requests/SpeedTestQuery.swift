/// How long a speed test is.
package struct SpeedTestQuery: APIModel {
    package var `for` = 2.0

    package init() {}
    package init(for seconds: Double) { self.for = seconds }

    package static let schema = Schema.request(
        nil,
        [Field("for", .number(0.5...10).default(.number(2)), "How long the relay sends, s.")]
    )
}
