import Access
import Foundation

// Pairs random PINs, right and wrong, and compares how long a relay takes for the right digits and for wrong ones.
let pins = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 10_000
let rounds = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 20_000
exit(PairingBench.agree(pins) && PairingBench.time(rounds) ? 0 : 1)
