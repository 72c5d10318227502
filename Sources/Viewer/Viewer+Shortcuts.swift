@preconcurrency import CSDL
@preconcurrency import Glibc
import HeliographClient
import HeliographDecode

extension Viewer {
    /// Does what a key asks for.
    func carryOut(_ shortcut: Shortcut) {
        needsDrawing = true
        switch shortcut {
        case .quit: isOver = true
        case .fullScreen: toggleFullScreen()
        case .scale: wall.isUnscaled.toggle()
        case .statistics:
            settings.showsStatistics.toggle()
            refreshDue = 0
        case .moveStatistics: settings.corner = settings.corner.next
        case .mute: toggleSound()
        case .louder: changeVolume(by: Self.volumeStep)
        case .quieter: changeVolume(by: -Self.volumeStep)
        case .save: save()
        case .keyframe: wall.shown?.live?.requestKeyframe()
        case .speak:
            speaks.toggle()
            tell(speaks ? "The microphone is on while you control a device." : "The microphone stays off.")
        case .lock:
            locksPointer.toggle()
            tell(
                locksPointer
                    ? "The pointer is locked while you control a device: it moves by distances, as games need."
                    : "The pointer stays free."
            )
        case .gamepad: tell(pads.chooseNext())
        case .wall: select(feeds.count > 1 ? nil : 0)
        case .next: select(((wall.selected ?? -1) + 1) % feeds.count)
        case .help: message = message?.text == Shortcut.helpText ? nil : (Shortcut.helpText, .max)
        }
    }

    private func toggleFullScreen() {
        window.isFullScreen.toggle()
        settings.isFullScreen = window.isFullScreen
        guard !window.isFullScreen else { return }
        if let width = settings.width, let height = settings.height {
            window.resize(width: width, height: height)
        } else if let size = (wall.shown ?? feeds.first)?.lastFrame?.uprightSize {
            window.fit(width: size.width, height: size.height)
        }
    }

    /// Shows a session alone, or all.
    func select(_ index: Int?) {
        guard index != wall.selected else { return }
        endControl()
        (wall.selected, refreshDue) = (index, 0)
        if index == nil, settings.showsStatistics { tell("Select a session to see its statistics.") }
    }

    private func save() {
        guard let feed = wall.shown else { return tell("Show one session alone first: Tab.") }
        guard let frame = feed.lastFrame, let png = frame.png() else {
            return tell("There is no picture to save.")
        }
        var (seconds, parts) = (time(nil), tm())
        localtime_r(&seconds, &parts)
        let stamp = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            strftime(text.baseAddress!, text.count, "%Y%m%d-%H%M%S", &parts)
            return String(cString: text.baseAddress!)
        }
        let name = feed.name.map { $0.isLetter || $0.isNumber ? $0 : "-" }
        let path = "\(String(name))-\(stamp).png"
        guard let file = fopen(path, "wx") else {
            return tell("Cannot write \(path): \(String(cString: strerror(errno)))")
        }
        let isWritten = fwrite(png, 1, png.count, file) == png.count
        tell(fclose(file) == 0 && isWritten ? "Saved \(path)" : "Cannot write \(path): the disk may be full")
    }
}
