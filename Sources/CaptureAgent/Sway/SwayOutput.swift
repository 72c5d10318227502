import Media

/// An output of sway, as it describes them.
struct SwayOutput: Decodable {
    private struct Mode: Decodable {
        /// mHz.
        let refresh: Int
    }

    private let name: String
    private let active: Bool
    private let mode: Mode?

    private enum CodingKeys: String, CodingKey {
        case name, active
        case mode = "current_mode"
    }

    /// Runs `body` with the output that a source captures.
    ///
    /// - Parameter name: Its name; `nil` if the source does not say which one it captures.
    /// - Throws: If sway has several, does not know it, or it has hardware, which decides on its sizes.
    static func withCaptured<Value>(
        _ name: String?,
        _ body: (SwayOutput, SwayConnection) throws(SwayFailure) -> Value
    ) throws(SwayFailure) -> Value {
        guard let sway = try SwayConnection() else {
            throw SwayFailure("Only sway gives a monitor another size, and the compositor is another one.")
        }
        defer { sway.close() }
        let outputs = try sway.ask(.outputs, as: [SwayOutput].self).filter(\.active)
        let captured = outputs.filter { $0.name == name ?? $0.name }
        guard let output = captured.first, captured.count == 1 else {
            let names = outputs.map(\.name).joined(separator: ", ")
            throw SwayFailure(
                name.map { "sway has no monitor \($0); it has: \(names)." }
                    ?? "sway has several monitors (\(names)), and the source does not say which one it captures."
            )
        }
        guard output.name.hasPrefix("HEADLESS-") else {
            throw SwayFailure("The monitor \(output.name) has hardware, which decides on its sizes.")
        }
        return try body(output, sway)
    }

    /// Gives it another size, with the refresh rate that it has.
    func resize(to size: PictureSize, _ sway: SwayConnection) throws(SwayFailure) {
        let refresh = Double(mode?.refresh ?? 60_000) / 1000
        try sway.run("output \(name) mode --custom \(size)@\(refresh)Hz", "give \(name) the size \(size)")
    }
}
