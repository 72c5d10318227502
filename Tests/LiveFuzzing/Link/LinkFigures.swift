/// What was done while a relay's link was fuzzed.
struct LinkFigures: CampaignFigures {
    var episodes = 0
    var packets = 0
    var units = 0
    var joins = 0
    var pictures = 0
    var stalls = 0
    var linksLost = 0
    var gapsTold = 0
    var recoveries = 0
    var decodings = 0
    /// The highest memory use of the relay, in KiB.
    var memory = 0
}

extension LinkFigures {
    /// Adds what an episode has done.
    static func += (left: inout Self, right: Self) {
        let counts: [WritableKeyPath<Self, Int>] = [
            \.packets, \.units, \.joins, \.pictures, \.stalls, \.linksLost, \.gapsTold, \.recoveries, \.decodings,
        ]
        for count in counts { left[keyPath: count] += right[keyPath: count] }
    }

    var description: String {
        """
        \(episodes) episodes, \(packets) packets sent, \(units) of them access units, \(joins) joins, \(pictures) pictures seen, \
        \(stalls) stalls, \(linksLost) links lost, \(gapsTold) resyncs told, \(recoveries) sessions recovered, \(decodings) streams \
        decoded, \(memory >> 10) MiB at most
        """
    }
}
