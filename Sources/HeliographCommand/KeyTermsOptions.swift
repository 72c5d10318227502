import Access
import ArgumentParser
import FoundationEssentials
import HeliographAPI

/// The options that say what the holder of a key, or a client that pairs, may do.
struct KeyTermsOptions: ParsableArguments {
    @Option(
        help:
            "What its holder may do: viewer to watch, controller also to act on screens, operator also to make changes. Default: viewer."
    )
    var role: Role?

    @Option(
        help: ArgumentHelp(
            "A device that it is for. Repeat it for more, up to \(KeyRing.maximumDevices). Default: all devices.",
            valueName: "name"
        )
    )
    var device: [String] = []

    @Option(
        help: ArgumentHelp(
            "What its holder may do in the library, whatever the role: look, record, delete, with commas between them, or none. Default: look; for an operator all.",
            valueName: "rights"
        ),
        transform: KeyTermsOptions.rights
    )
    var library: Set<LibraryRight>?

    @Option(
        help: ArgumentHelp(
            "After how many days it ends, 1 to \(KeyRequest.dayCounts.upperBound). Default: never.",
            valueName: "count"
        )
    )
    var days: Int?

    func validate() throws {
        guard days.map(KeyRequest.dayCounts.contains) ?? true else {
            throw ValidationError("--days is 1 to \(KeyRequest.dayCounts.upperBound).")
        }
    }

    /// Whether any is given.
    var isGiven: Bool { role != nil || !device.isEmpty || library != nil || days != nil }

    /// Returns what a key may do that is made now.
    func terms(at time: Date) -> KeyRing.Terms {
        KeyRing.Terms(
            role ?? .viewer,
            devices: device.isEmpty ? nil : Set(device),
            library: library,
            expires: KeyRing.Terms.end(afterDays: days, from: time)
        )
    }

    private static func rights(_ text: String) throws -> Set<LibraryRight> {
        do {
            return try Set<LibraryRight>(text: text)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}

extension Role: ExpressibleByArgument {}
