import Wire

/// The screen by one screenshot after the other, as long as a session wants pictures: for desktops without a screencast, and when there
/// is none to be had.
struct ScreenshotSource: FrameSource {
    let kind = "screenshot"
    let target: ScreenshotTarget

    func run(into sink: any FrameSink, demand: SourceDemand, stop: Event) throws(SourceError) {
        let demandChanged = try SourceError.explainingShortage { () throws(ResourceShortage) in try Event() }
        let backend = try target.open()
        defer { backend.close() }
        sink.sourceChanged(SourceStatus(state: .opening, kind: backend.kind))
        demand.observe { _ in demandChanged.set() }
        defer { demand.observe(nil) }
        var loop = ShotLoop(backend: backend, sink: sink)
        try loop.open(stop: stop)
        while !stop.isSet {
            demandChanged.clear()
            loop.follow(demand.value)
            if loop.waitForShot(or: [stop, demandChanged]) {
                try loop.takeShot(stop: stop)
            } else {
                try backend.processEvents()
            }
        }
    }
}
