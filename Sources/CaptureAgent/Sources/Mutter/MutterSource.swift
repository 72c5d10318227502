package import Media
package import Wire

/// A monitor of GNOME's compositor (an existing or a virtual one), or a window, captured without a dialog.
package struct MutterSource: FrameSource {
    package enum Screen: Sendable, Equatable {
        /// The monitor on that connector, such as `DP-1`; `nil` for the first one.
        case monitor(String?)
        /// A virtual monitor of this size, which exists while it is captured.
        case virtual(PictureSize)
        /// The window that has the input focus when the source is opened.
        case focusedWindow

        package init(_ content: ScreenContent) {
            switch content {
            case .monitor: self = .monitor(nil)
            case .window: self = .focusedWindow
            }
        }
    }

    package let kind = "mutter"
    let screen: Screen
    let cursor: CursorDrawing

    package func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError) {
        let screenCast = try MutterScreenCast(stop: stop)
        defer { screenCast.close() }
        var target = PipeWireTarget(node: try screenCast.open(screen, cursor: cursor))
        target.drawsPointer = cursor == .embedded
        if case .virtual(let size) = screen { target.size = size }
        let openingDemand = demand.value
        let stream = try PipeWireStream(
            PipeWireConnection(to: .session),
            target: target,
            demand: openingDemand,
            sink: sink
        )
        defer { stream.shutDown() }
        try stream.deliver(demand, openedWith: openingDemand, until: stop) { screenCast.waitUntilClosed(or: $0) }
    }
}
