import Media
import TestSupport
import Wire

/// The steps of one episode, generated from a seed.
struct LinkPlan {
    static let sessions = 4
    static let viewers = 12

    let steps: [LinkStep]
    /// Whether everything that is sent is valid, so that everything viewers get can be decoded.
    let isSound: Bool

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let isSound = random.chance(0.2)
        var steps: [LinkStep] = []
        for session in 0..<Self.sessions { steps.append(Self.start(session, by: &random)) }
        for device in TestedRelay.devices.indices {
            steps.append(.connect(LinkName(device: device, role: .primary), .streaming))
        }
        // Viewers of the first pictures.
        for viewer in 0..<random.int(in: 2...6) { steps.append(Self.join(viewer, by: &random)) }
        for _ in 0..<random.int(in: 20...120) { steps.append(Self.step(isSound: isSound, by: &random)) }
        (self.steps, self.isSound) = (steps, isSound)
    }

    private static func step(isSound: Bool, by random: inout SeededGenerator) -> LinkStep {
        let (session, viewer) = (random.int(in: 0...(sessions - 1)), random.int(in: 0...(viewers - 1)))
        let seed = random.next()
        switch random.int(in: 0...99) {
        case ..<40: return units(session, isSound: isSound, by: &random)
        case ..<58: return join(viewer, by: &random)
        case ..<64: return .leave(viewer, random.pick(Ending.allCases))
        case ..<68: return .stall(viewer)
        case ..<72: return .resume(viewer)
        case ..<78: return .breathe(milliseconds: random.int(in: 1...30))
        case ..<80: return .call(session: session, seed: seed)
        case ..<82: return .changeSession(session, body: change(by: &random))
        case ..<83: return random.chance(0.5) ? .stopSession(session) : start(session, by: &random)
        case ..<85: return .answerSnapshots(link(by: &random), seed: seed)
        case ..<88: return .endLink(link(by: &random), random.pick(Ending.allCases))
        case ..<91:
            return .connect(
                link(by: &random),
                isSound || random.chance(0.6) ? .streaming : random.pick(Greeting.allCases)
            )
        default: break
        }
        if isSound { return .breathe(milliseconds: random.int(in: 1...10)) }
        switch random.int(in: 0...9) {
        case ..<5: return .report(link(by: &random), session: session, random.pick(Report.allCases), seed: seed)
        case 5: return .mutated(link(by: &random), seed: seed)
        case 6: return .torn(link(by: &random), seed: seed)
        case 7: return .say(viewer, seed: seed)
        case 8: return .hold(link(by: &random), random.chance(0.5))
        default: return .strangeUnits(link(by: &random), session: UInt32(truncatingIfNeeded: random.extreme()))
        }
    }

    private static func link(by random: inout SeededGenerator) -> LinkName {
        let device = random.int(in: 0...(TestedRelay.devices.count - 1))
        return LinkName(device: device, role: random.chance(0.7) ? .primary : .standby)
    }

    private static func join(_ viewer: Int, by random: inout SeededGenerator) -> LinkStep {
        let format = random.chance(0.85) ? random.pick(Viewing.streams) : random.pick(Viewing.Format.allCases)
        var viewing = Viewing(format: format, join: random.pick([nil, nil, "live", "cache"]))
        if format == .snapshot { viewing.query = [random.pick(["fresh=true", "fresh=false", "use=false"])] }
        if format == .snapshots { viewing.query = [random.pick(["fps=1", "fps=30", "fps=5"])] }
        if format == .wait {
            let timeout = random.pick(["0", "0.2", "1"])
            viewing.query = [
                random.pick([
                    "until=changed", "until=static&for=0", "until=static&for=0.1",
                    "until=changed&after=\(random.extreme() >> 1)",
                ]),
                "timeout=\(timeout)",
            ]
        }
        return .join(viewer, session: random.int(in: 0...(sessions - 1)), viewing)
    }

    private static func start(_ session: Int, by random: inout SeededGenerator) -> LinkStep {
        let fields = [
            "\"codec\": \"\(random.pick(["h264", "h264", "h265"]))\"",
            "\"framing\": \"\(random.pick(["annexb", "scrcpy"]))\"",
            "\"fps\": \(random.pick([1, 5, 30, 60, 240]))",
            "\"repeat\": \(random.chance(0.5))",
            "\"onDemand\": \(random.chance(0.25))",
            "\"join\": \"\(random.pick(["cache", "cache", "live"]))\"",
            "\"keyframeInterval\": \(random.pick(["0.2", "2", "60"]))",
        ]
        return .startSession(session, device: session % TestedRelay.devices.count, body: fields.joined(separator: ", "))
    }

    private static func change(by random: inout SeededGenerator) -> String {
        random.pick([
            "{\"fps\": \(random.pick([1, 30, 240]))}", "{\"bitrate\": \(random.int(in: 50_000...100_000_000))}",
            "{\"width\": \(random.int(in: 16...8192))}", "{\"width\": null}", "{\"onDemand\": \(random.chance(0.5))}",
            "{\"join\": \"live\"}", "{\"maxPixels\": 256}", "{}", "{\"fps\": 0}",
        ])
    }

    private static func units(_ session: Int, isSound: Bool, by random: inout SeededGenerator) -> LinkStep {
        let name = LinkName(
            device: session % TestedRelay.devices.count,
            role: random.chance(0.85) ? .primary : .standby
        )
        let delivery = Delivery(
            revives: random.chance(0.8),
            isTogether: random.chance(0.7),
            answers: random.chance(0.8),
            oddities: !isSound && random.chance(0.25) ? random.next() : nil
        )
        return .units(name, session: session, recipes(isSound: isSound, by: &random), delivery)
    }

    private static func recipes(isSound: Bool, by random: inout SeededGenerator) -> [UnitRecipe] {
        var recipes: [UnitRecipe] = random.chance(0.6) ? [.key(group: random.int(in: 0...100))] : []
        switch random.int(in: 0...(isSound ? 6 : 19)) {
        case ..<5: recipes += run(of: .next, 1...12, by: &random)
        // More than may wait for a viewer.
        case 5: recipes += run(of: .next, 600...1300, by: &random)
        case 6: recipes += run(of: .next, 1...3, by: &random) + [.key(group: random.int(in: 0...100))]
        case ..<10: recipes += run(of: .tiny, 1...12, by: &random)
        case 10: recipes += run(of: .tiny, 600...1300, by: &random)
        case 11:
            // Rarely as large as a packet may be.
            let size = random.chance(0.05) ? 16 << 20 - 200 : random.int(in: 1000...900_000)
            for _ in 0..<(size > 1 << 20 ? 1 : random.int(in: 1...6)) {
                recipes.append(.fat(size, isKey: random.chance(0.2)))
            }
        default: recipes += run(of: random.chance(0.5) ? .tiny : .next, 0...6, by: &random)
        }
        guard !isSound, random.chance(0.5) else { return recipes.isEmpty ? [.next] : recipes }
        for _ in 0..<random.int(in: 1...3) {
            let spoiled = UnitRecipe.spoiled(random.pick(Spoil.allCases), seed: random.next())
            recipes.insert(spoiled, at: random.int(in: max(0, recipes.count - 6)...recipes.count))
        }
        return recipes
    }

    private static func run(of recipe: UnitRecipe, _ counts: ClosedRange<Int>, by random: inout SeededGenerator)
        -> [UnitRecipe]
    {
        [UnitRecipe](repeating: recipe, count: random.int(in: counts))
    }
}
