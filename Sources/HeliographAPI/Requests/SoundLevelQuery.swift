/// How to measure the level of a device's sound.
package struct SoundLevelQuery: APIModel {
    package var `for` = 0.5

    package init() {}

    package static let schema = Schema.request(
        nil,
        [Field("for", .number(0.1...60).default(.number(0.5)), "How long to measure, s.")]
    )
}
