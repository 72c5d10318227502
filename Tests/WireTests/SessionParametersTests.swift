import Media
import Testing
import Wire

@Suite("A session's parameters")
struct SessionParametersTests {
    private static func parameters(_ change: (inout SessionParameters) -> Void = { _ in }) -> SessionParameters {
        var parameters = SessionParameters(
            codec: .h264,
            size: RequestedSize(),
            fps: 30,
            bitrate: 6_000_000,
            repeat: true,
            keyframeInterval: 2000,
            epoch: 1
        )
        change(&parameters)
        return parameters
    }

    @Test("have no problem within their ranges")
    func withinRanges() {
        #expect(Self.parameters().problem == nil)
        #expect(Self.parameters { $0.size = RequestedSize(width: 8192, height: 2, maxPixels: 4) }.problem == nil)
    }

    @Test("changed by an update keep what it leaves out")
    func updated() {
        let update = SessionUpdate(fps: 60, size: RequestedSize(width: 640))
        let changed = update.applied(to: Self.parameters { $0.size = RequestedSize(height: 100, maxPixels: 9) })
        #expect(changed == Self.parameters { ($0.fps, $0.size) = (60, RequestedSize(width: 640)) })
        #expect(SessionUpdate().applied(to: changed) == changed)
    }

    @Test("name what is out of range")
    func outOfRange() {
        #expect(Self.parameters { $0.fps = 0 }.problem?.contains("fps") == true)
        #expect(Self.parameters { $0.fps = 241 }.problem?.contains("fps") == true)
        #expect(Self.parameters { $0.bitrate = 0 }.problem?.contains("bitrate") == true)
        #expect(Self.parameters { $0.encoder = "" }.problem?.contains("encoder") == true)
        #expect(Self.parameters { $0.keyframeInterval = -1 }.problem?.contains("keyframeInterval") == true)
        #expect(Self.parameters { $0.size.width = 1 << 40 }.problem?.contains("side") == true)
        #expect(Self.parameters { $0.size.height = 0 }.problem?.contains("side") == true)
        #expect(Self.parameters { $0.size.maxPixels = 0 }.problem?.contains("maxPixels") == true)
        #expect(Self.parameters { $0.epoch = .max }.problem?.contains("epoch") == true)
    }
}
