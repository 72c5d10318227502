import Media
import Wire

extension FuzzTarget {
    /// The agent link, from either side.
    static let wire = FuzzTarget(
        "wire",
        words: ["HLGW\u{1}", "{\"", "\":", "null", "true", "[]", "1e308", "-1", "18446744073709551615", "\\u0000"]
    ) { input in
        var choices = Choices(input)
        let direction: Direction = choices.byte() & 1 == 0 ? .relayToAgent : .agentToRelay
        let seed = choices.byte()
        let stream = choices.rest()
        let whole = try decoded([stream[...]], direction)
        let split = try decoded(Arrival.pieces(of: stream, seed: seed), direction)
        try require(whole == split, "the pieces matter: \(whole) and \(split)")
        for packet in whole.packets {
            let again = try decoded([packet.encoded()[...]], direction)
            try require(again == Decoded(packets: [packet]), "\(packet) becomes \(again)")
        }
    }

    private struct Decoded: Equatable {
        var packets: [Packet] = []
        var failure: WireError?
    }

    private static func decoded(_ pieces: [ArraySlice<UInt8>], _ direction: Direction) throws(Violation) -> Decoded {
        var (decoder, decoded) = (PacketDecoder(accepting: direction), Decoded())
        for piece in pieces {
            decoder.append(Array(piece))
            do throws(WireError) {
                while let packet = try decoder.next() { decoded.packets.append(packet) }
            } catch {
                decoded.failure = error
            }
        }
        try require(decoded.packets.allSatisfy { $0.type.direction == direction }, "wrong direction: \(decoded)")
        return decoded
    }
}
