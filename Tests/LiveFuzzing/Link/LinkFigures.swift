/// What was done while a relay's link was fuzzed.
struct LinkFigures {
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
    /// The most memory that the relay was seen with, KiB.
    var memory = 0
}

extension LinkFigures: CustomStringConvertible {
    var description: String {
        """
        \(episodes) episodes, \(packets) packets sent, \(units) of them access units, \(joins) joins, \(pictures) pictures seen, \
        \(stalls) stalls, \(linksLost) links lost, \(gapsTold) resyncs told, \(recoveries) sessions recovered, \(decodings) streams \
        decoded, \(memory >> 10) MiB at most
        """
    }
}
