import CPipeWire
import CaptureAgent
import Media
import Testing

@Suite("PipeWire formats")
struct PipeWireFormatTests {
    /// `DRM_FORMAT_MOD_INVALID`, and a tiling of Intel's.
    private static let foreignModifiers: [UInt64] = [(1 << 56) - 1, 1 << 56 | 1]

    private static func demand(takesDMABuf: Bool) -> SourceDemand.Value {
        SourceDemand.Value(fastestSession: 30, takesDMABuf: takesDMABuf)
    }

    /// Returns the result of an offer after PipeWire has fixed its defaults.
    private static func settle(_ offer: UnsafePointer<spa_pod>?) -> PipeWireFormat? {
        guard let offer else { return nil }
        spa_pod_fixate(UnsafeMutablePointer(mutating: offer))
        return PipeWireFormat(offer)
    }

    @Test("only memory is offered if a session cannot use DMA-BUFs")
    func memory() throws {
        try PipeWireFormat.withOffers(for: Self.demand(takesDMABuf: false), size: nil) { offers in
            #expect(offers.count == 1)
            let format = try #require(Self.settle(offers[0]))
            #expect(format.modifier == nil && format.pixels == .bgrx)
            #expect(format.size == PictureSize(width: 1280, height: 720))
        }
    }

    @Test("DMA-BUFs are offered first, with rows of pixels, which the producer has to agree to, and memory after them")
    func dmaBuf() throws {
        let size = PictureSize(width: 641, height: 361)
        try PipeWireFormat.withOffers(for: Self.demand(takesDMABuf: true), size: size) { offers in
            #expect(offers.count == 2)
            let first = try #require(offers[0])
            let property = try #require(spa_pod_find_prop(first, nil, SPA_FORMAT_VIDEO_modifier.rawValue))
            #expect(property.pointee.flags == UInt32(SPA_POD_PROP_FLAG_MANDATORY | SPA_POD_PROP_FLAG_DONT_FIXATE))
            // The modifier stays open, and the producer's preferred one is read.
            let formats = offers.compactMap { Self.settle($0) }
            #expect(formats.map(\.modifier) == [DMABuf.linear, nil])
            #expect(formats.allSatisfy { $0.size == size })
        }
    }

    @Test("a layout that was not offered is refused", arguments: foreignModifiers)
    func foreignModifier(_ modifier: UInt64) {
        let formats = [SPA_VIDEO_FORMAT_BGRx.rawValue]
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { memory in
            let offer = cpw_enum_format(memory.baseAddress, 1024, formats, 1, [modifier], 1, 40, 0, 0)
            var read: UInt64 = 0
            let hasModifier = cpw_format_modifier(offer, &read)
            #expect(hasModifier && read == modifier)
            let isRefused = Self.settle(offer) == nil
            #expect(isRefused)
        }
    }
}
