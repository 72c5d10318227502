import Testing
import Wire

@Suite("The bytes of version 1 do not change")
struct FrozenVectorTests {
    @Test("Every packet type has a frozen vector")
    func everyPacketTypeHasAFrozenVector() {
        let frozen = Set((SamplePackets.relayToAgent + SamplePackets.agentToRelay).map(\.packet.type))
        #expect(frozen == Set(PacketType.allCases))
    }

    @Test("A packet is encoded to its frozen bytes", arguments: SamplePackets.relayToAgent + SamplePackets.agentToRelay)
    func aPacketIsEncodedToItsFrozenBytes(sample: SamplePackets.Frozen) {
        #expect(sample.packet.encoded() == sample.bytes, "\(String(decoding: sample.packet.encoded(), as: UTF8.self))")
    }

    @Test("Frozen bytes from the relay decode to their packet", arguments: SamplePackets.relayToAgent)
    func frozenBytesFromTheRelayDecode(sample: SamplePackets.Frozen) throws {
        var decoder = PacketDecoder(accepting: .relayToAgent)
        decoder.append(sample.bytes)
        #expect(try decoder.next() == sample.packet)
        #expect(try decoder.next() == nil)
    }

    @Test("Frozen bytes from the agent decode to their packet", arguments: SamplePackets.agentToRelay)
    func frozenBytesFromTheAgentDecode(sample: SamplePackets.Frozen) throws {
        var decoder = PacketDecoder(accepting: .agentToRelay)
        decoder.append(sample.bytes)
        #expect(try decoder.next() == sample.packet)
        #expect(try decoder.next() == nil)
    }

    @Test("A type's direction is its bit 6", arguments: PacketType.allCases)
    func aTypesDirectionIsItsBit6(type: PacketType) {
        let fromAgent = SamplePackets.agentToRelay.contains { $0.packet.type == type }
        #expect(type.direction == (fromAgent ? .agentToRelay : .relayToAgent))
    }
}
