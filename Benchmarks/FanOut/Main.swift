import ArgumentParser

@main
struct FanOut: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "FanOut",
        abstract: "Measures what many viewers and those who join see of a relay.",
        discussion: "Reports only. docs/fanout.md says what the figures are.",
        subcommands: [Load.self, Joins.self]
    )
}
