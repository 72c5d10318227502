import Media
import TestSupport
import Testing

@Suite("Picture sizes")
struct PictureFitTests {
    @Test("a source of the output's size is copied one to one, an odd one without its last column and row")
    func unscaled() {
        let odd = PictureFit(source: PictureSize(width: 853, height: 481), output: PictureSize(width: 852, height: 480))
        #expect(odd.isUnscaled)
        #expect(odd.content == PictureSize(width: 852, height: 480))
        #expect(odd.x == 0 && odd.y == 0)
    }

    @Test("a wide source gets borders above and below, a tall one at the sides")
    func borders() {
        let wide = PictureFit(
            source: PictureSize(width: 1920, height: 800),
            output: PictureSize(width: 1280, height: 720)
        )
        #expect(wide.content == PictureSize(width: 1280, height: 532))
        #expect(wide.x == 0 && wide.y == 94)
        let tall = PictureFit(
            source: PictureSize(width: 720, height: 1280),
            output: PictureSize(width: 1280, height: 720)
        )
        #expect(tall.content == PictureSize(width: 404, height: 720))
        #expect(tall.x == 438 && tall.y == 0)
    }

    @Test("content is even, inside the output and at an even place, whatever the sizes", arguments: 0..<500)
    func anySizes(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func size() -> PictureSize {
            PictureSize(
                width: Int.random(in: 1...4000, using: &generator),
                height: Int.random(in: 1...4000, using: &generator)
            )
        }
        let (source, output) = (size(), size().even)
        let fit = PictureFit(source: source, output: output)
        #expect(fit.content.width % 2 == 0 && fit.content.height % 2 == 0 && fit.x % 2 == 0 && fit.y % 2 == 0)
        #expect(fit.content.width >= 2 && fit.content.height >= 2 && fit.x >= 0 && fit.y >= 0)
        #expect(fit.x + fit.content.width <= output.width && fit.y + fit.content.height <= output.height)
        #expect(fit.content.width == output.width || fit.content.height == output.height)
    }

    @Test("what a session leaves open follows the source")
    func requestedSizes() {
        let source = PictureSize(width: 1920, height: 1080)
        #expect(RequestedSize().resolved(source: source) == source)
        #expect(RequestedSize(width: 1280).resolved(source: source) == PictureSize(width: 1280, height: 720))
        #expect(RequestedSize(height: 360).resolved(source: source) == PictureSize(width: 640, height: 360))
        #expect(
            RequestedSize(width: 853, height: 481).resolved(source: source) == PictureSize(width: 852, height: 480)
        )
        let narrow = RequestedSize(width: 1920).resolved(source: PictureSize(width: 40, height: 1400))
        #expect(narrow == PictureSize(width: 234, height: 8192))
        let flat = RequestedSize(height: 1080).resolved(source: PictureSize(width: 8192, height: 40))
        #expect(flat == PictureSize(width: 8192, height: 40).even)
        let capped = RequestedSize(maxPixels: 1280 * 720).resolved(source: source)
        #expect(capped == PictureSize(width: 1280, height: 720))
    }
}
