import CaptureAgent
import Media
import Testing

@Suite("A slate")
struct SlateTests {
    @Test("can be made in any shape and after any time", arguments: [0, 1, 60, 1_000_000])
    func sizes(minutes: Int) {
        let sides = [2, 3, 16, 17, 33, 49, 50, 64, 240, 1080, 1400]
        for (width, height) in sides.flatMap({ width in sides.map { (width, $0) } }) + [(5760, 1080), (8192, 16)] {
            let size = PictureSize(width: width, height: height)
            #expect(Slate.pixels(size: size, minutes: minutes).description.size == size)
        }
    }
}
