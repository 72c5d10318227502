import CaptureAgent
import Media
import Synchronization
import Testing

@Suite("Leases")
struct FramePixelsTests {
    private final class Wakes: Sendable {
        private let tally = Mutex(0)
        var count: Int { tally.withLock { $0 } }
        func add() { tally.withLock { $0 += 1 } }
    }

    private static let description = FrameDescription(
        size: PictureSize(width: 2, height: 1),
        stride: 8,
        format: .bgrx
    )

    /// The buffers' memory.
    private let bytes = UnsafeMutableRawPointer.allocate(byteCount: 8, alignment: 8)

    private func leasedPixels(_ lender: BufferLender, buffer: Int, memory: PixelMemory? = nil) -> FramePixels {
        bytes.initializeMemory(as: UInt8.self, repeating: 7, count: 8)
        let memory = memory ?? PixelMemory(bytes, byteCount: 8)
        return FramePixels(leasing: memory, description: Self.description, lease: lender.lend(buffer))
    }

    private static func collected(_ lender: BufferLender) -> [Int] {
        var buffers: [Int] = []
        lender.collect { buffers.append($0) }
        return buffers
    }

    @Test("a buffer comes back when the last frame that shows it goes, once, and wakes the source")
    func returned() {
        let wakes = Wakes()
        let lender = BufferLender { wakes.add() }
        var frame: CapturedFrame? = CapturedFrame(leasedPixels(lender, buffer: 3), captured: 0)
        var other = frame.map { CapturedFrame($0.contents, captured: 1) }
        frame = nil
        #expect(lender.lent.count == 1 && other != nil && wakes.count == 0)
        other = nil
        #expect(lender.lent.count == 0 && frame == nil && wakes.count == 1)
        #expect(Self.collected(lender) == [3])
        #expect(Self.collected(lender).isEmpty)
    }

    @Test("the source is woken for a buffer if it has few left; otherwise its next picture takes it along")
    func wakesInNeed() {
        let wakes = Wakes()
        let lender = BufferLender { wakes.add() }
        lender.setTotal(6)
        for buffer in 0..<4 {
            #expect(lender.canLend)
            _ = lender.lend(buffer)
        }
        #expect(!lender.canLend)
        lender.giveBack(0)
        lender.giveBack(1)
        #expect(wakes.count == 2)
        #expect(Self.collected(lender) == [1, 0])
        lender.giveBack(2)
        #expect(lender.canLend && wakes.count == 2)
        lender.giveBack(2)
        #expect(Self.collected(lender) == [2])
        lender.setTotal(4)
        lender.giveBack(3)
        #expect(wakes.count == 3)
    }

    @Test(
        "pixels stay when the source takes the buffer away, and a frame that the buffer is lent to again is another's"
    )
    func detached() {
        let lender = BufferLender {}
        let memory = PixelMemory(bytes, byteCount: 8)
        var pixels: FramePixels? = leasedPixels(lender, buffer: 0, memory: memory)
        #expect(lender.forget(0))
        memory.detach()
        let next = leasedPixels(lender, buffer: 0)
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: 8)
        let copied = pixels?.withFirst { Array(UnsafeRawBufferPointer(start: $0, count: 8)) }
        #expect(copied == Array(repeating: 7, count: 8))
        pixels = nil
        #expect(lender.lent == [0])
        withExtendedLifetime(next) {}
    }

    @Test("a buffer's memory is lent to one frame after the other")
    func lentAgain() {
        let lender = BufferLender {}
        let memory = PixelMemory(bytes, byteCount: 8)
        for _ in 0..<3 {
            let pixels = leasedPixels(lender, buffer: 5, memory: memory)
            #expect(pixels.withFirst { $0 } == UnsafeRawPointer(bytes))
            #expect(lender.lent == [5])
        }
        #expect(Self.collected(lender) == [5, 5, 5])
        #expect(!lender.forget(5))
    }
}
