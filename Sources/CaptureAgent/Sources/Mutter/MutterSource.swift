import Media
import Wire

/// A monitor of GNOME's compositor, existing or made for the purpose, without a dialog.
struct MutterSource: FrameSource {
    enum Screen: Sendable, Equatable {
        /// The monitor of that connector, such as `DP-1`; the first one when nil.
        case monitor(String?)
        /// A monitor that exists as long as it is captured, of this size.
        case virtual(PictureSize)
    }

    let kind = "mutter"
    let screen: Screen
    let cursor: CursorDrawing

    func run(into sink: any FrameSink, rate: SourceRate, stop: Event) throws(SourceError) {
        let screenCast = try MutterScreenCast(stop: stop)
        defer { screenCast.close() }
        var target = PipeWireTarget(node: try screenCast.open(screen, cursor: cursor))
        if case .virtual(let size) = screen { target.size = size }
        let maximumRate = rate.maximum
        let stream = try PipeWireStream(
            PipeWireConnection(to: .session),
            target: target,
            maximumRate: maximumRate,
            sink: sink
        )
        defer { stream.shutDown() }
        try stream.deliver(rate: rate, openedWith: maximumRate, until: stop) { screenCast.waitUntilClosed(or: $0) }
    }
}
