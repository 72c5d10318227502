@preconcurrency import CSDL
@preconcurrency import Glibc
import HeliographClient
import HeliographDecode
import Program

/// A window that shows sessions, plays the sound of one, and lets a person act on it.
@MainActor
package final class Viewer {
    /// What a person asked for. What is `nil` is as it was the last time.
    package struct Options: Sendable {
        package var title = "Heliograph"
        /// One of SDL's renderers; `nil` for the fastest one.
        package var renderer: String?
        package var waitsForDisplay = false
        package var isFullScreen: Bool?
        package var isMuted: Bool?
        package var speaker: String?
        package var showsStatistics: Bool?
        /// Whether clicks begin control.
        package var mayControl = true

        package init() {}
    }

    /// The size of a window before its first picture.
    private static let firstSize = (width: 1280, height: 720)
    /// The time between two drawings of a wall, ns. A single session is drawn at once.
    private static let wallInterval: UInt64 = 16_000_000
    private static let second: UInt64 = 1_000_000_000
    /// How long a message stays, ns.
    private static let messageTime: UInt64 = 4_000_000_000
    private static let volumeStep = 0.1
    /// How long keys do nothing after control has ended by itself, ns.
    private static let restTime: UInt64 = 1_000_000_000

    private let feeds: [SessionFeed]
    private let options: Options
    private(set) package var settings: ViewerSettings

    private let window: Window
    private let painter: TextPainter?
    private var textures: [PictureTexture] = []
    /// What is said of each session besides its picture.
    private var notices: [String?]
    /// The units whose pictures are drawn next.
    private var drawing: [(feed: SessionFeed, unit: MediaUnit)] = []
    /// The geometry of each session's shown picture, for input.
    private var geometries: [UInt32]
    /// The session that is shown alone; `nil` for a wall of all.
    private var selected: Int?
    private var isUnscaled = false
    private var loudspeaker: Loudspeaker?
    private var control: HandControl?
    /// Whether the person speaks to the devices that are controlled.
    private var speaks = false
    private var microphone: Microphone?

    /// From when on keys are shortcuts, ns. Those before were meant for the device that was controlled.
    private var shortcutsFrom: UInt64 = 0
    /// Why no sound can be played here; `nil` if it can.
    private var soundFault: String?
    private var message: (text: String, until: UInt64)?
    private var statisticsText = ""
    private var needsDrawing = true
    private var drawn: UInt64 = 0
    private var refreshDue: UInt64 = 0
    private var hasFitted = false
    private var isOver = false

    /// Opens the window.
    ///
    /// - Parameter feeds: At least one, which have not begun.
    package init(_ feeds: [SessionFeed], _ options: Options, _ settings: ViewerSettings) throws(ViewerError) {
        (self.feeds, self.options, self.settings) = (feeds, options, settings)
        self.settings.isFullScreen = options.isFullScreen ?? settings.isFullScreen
        self.settings.isMuted = options.isMuted ?? settings.isMuted
        self.settings.showsStatistics = options.showsStatistics ?? settings.showsStatistics
        geometries = Array(repeating: 0, count: feeds.count)
        notices = Array(repeating: nil, count: feeds.count)
        selected = feeds.count == 1 ? 0 : nil
        guard SDL_InitSubSystem(SDL_INIT_VIDEO) == 0 else { throw .ofSDL("there is no display") }
        Window.prepareWaking()
        window = try Window(
            title: options.title,
            width: settings.width ?? Self.firstSize.width,
            height: settings.height ?? Self.firstSize.height,
            isFullScreen: self.settings.isFullScreen,
            drawing: options.renderer.map { .named($0) } ?? .automatic,
            waitsForDisplay: options.waitsForDisplay
        )
        hasFitted = settings.width != nil
        // Without a font, pictures are shown all the same.
        var fault: String?
        do throws(ViewerError) {
            painter = try TextPainter(window, scale: window.scale)
        } catch {
            (painter, fault) = (nil, error.description)
        }
        textures = feeds.map { _ in PictureTexture(window) }
        if let fault { fputs("heliograph: \(fault)\n", stderr) }
    }

    /// SDL's drivers for windows. It falls back to others, which show nothing or take the console.
    private static let drivers: Set = ["x11", "wayland"]

    /// Why there is no display to open a window on; `nil` if there is one.
    package static var displayFault: String? {
        guard ["DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"].contains(where: EnvironmentVariable.isSet) else {
            return "DISPLAY and WAYLAND_DISPLAY are not set"
        }
        guard SDL_InitSubSystem(SDL_INIT_VIDEO) == 0 else { return String(cString: SDL_GetError()) }
        // Until there is a window, signals end the program.
        defer { SDL_QuitSubSystem(SDL_INIT_VIDEO) }
        let driver = SDL_GetCurrentVideoDriver().map { String(cString: $0) } ?? ""
        let isChosen = EnvironmentVariable.isSet("SDL_VIDEODRIVER")
        return drivers.contains(driver) || isChosen ? nil : "neither X nor Wayland answers"
    }

    /// The loudspeakers of this machine.
    package static var speakers: [String] { Loudspeaker.names }

    /// Wakes the window, because a feed has something new.
    nonisolated package static func wake() { Window.wake() }

    // MARK: The loop

    /// Shows the sessions until the window is closed or all have ended.
    ///
    /// - Returns: How the sessions ended; empty if the person closed the window.
    package func run() -> [SessionFeed.Status] {
        for feed in feeds { feed.start() }
        defer { close() }
        while !isOver {
            var event = SDL_Event()
            if SDL_WaitEventTimeout(&event, timeout) != 0 {
                repeat { handle(event) } while SDL_PollEvent(&event) != 0
            }
            Window.looked()
            update()
            let statuses = feeds.map(\.status)
            guard !statuses.allSatisfy({ if case .ended = $0 { true } else { false } }) else { return statuses }
        }
        return []
    }

    private func close() {
        microphone?.close()
        control?.end()
        for feed in feeds { feed.close() }
        loudspeaker?.close()
        for texture in textures { texture.close() }
        painter?.close()
        window.close()
    }

    private static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * second + UInt64(time.tv_nsec)
    }

    /// How long to wait for an event, in ms; -1 for any time.
    private var timeout: Int32 {
        let now = Self.now
        let due = [
            control?.due, message?.until, settings.showsStatistics ? refreshDue : nil,
            needsDrawing ? drawn + Self.wallInterval : nil,
        ]
        guard let next = due.compactMap({ $0 }).min() else { return -1 }
        return next > now ? Int32(clamping: (next - now + 999_999) / 1_000_000) : 0
    }

    /// Takes what is new, and draws it.
    private func update() {
        let now = Self.now
        let isDue = selected != nil || now >= drawn + Self.wallInterval
        for (index, feed) in feeds.enumerated() {
            if let refusal = feed.takeRefusal() { tell(refusal) }
            let notice = feed.notice
            if notice != notices[index] { (notices[index], needsDrawing) = (notice, true) }
            guard isShown(index) else { continue }
            guard isDue else {
                needsDrawing = true
                continue
            }
            guard let picture = feed.takeNewest() else { continue }
            do throws(ViewerError) {
                try textures[index].take(picture.frame)
            } catch {
                tell(error.description)
                continue
            }
            geometries[index] = picture.geometry
            drawing.append((feed, picture.unit))
            fitOnce(picture.frame)
            needsDrawing = true
        }
        followSound()
        if control?.tick(now: now) == true { endControl() }
        followControl()
        if let message, now >= message.until {
            self.message = nil
            needsDrawing = true
        }
        if settings.showsStatistics, now >= refreshDue {
            refreshDue = now + Self.second
            statisticsText = selected.map { statistics(of: feeds[$0]) } ?? ""
            needsDrawing = true
        }
        guard needsDrawing, isDue else { return }
        draw()
        (needsDrawing, drawn) = (false, now)
        for (feed, unit) in drawing { feed.live?.presented(unit) }
        drawing = []
    }

    private func isShown(_ index: Int) -> Bool { selected == nil || selected == index }

    /// Makes the window as large as the first picture, unless its size was chosen.
    private func fitOnce(_ frame: Frame) {
        guard !hasFitted, feeds.count == 1 else { return }
        hasFitted = true
        let (width, height) = frame.uprightSize
        window.fit(width: width, height: height)
    }

    // MARK: Drawing

    private func draw() {
        let (width, height) = window.size
        SDL_SetRenderDrawColor(window.renderer, 0, 0, 0, 255)
        SDL_RenderClear(window.renderer)
        for (index, cell) in cells(width: width, height: height) {
            if let place = place(of: index, in: cell) { textures[index].draw(at: place) }
            if let text = notices[index] { painter?.draw(text, at: .middle, in: cell) }
            if feeds.count > 1, selected == nil { painter?.draw(feeds[index].name, at: .bottomLeft, in: cell) }
        }
        let whole = PixelRectangle(x: 0, y: 0, width: width, height: height)
        if control?.state == .on { drawFrame(whole) }
        if settings.showsStatistics, selected != nil { painter?.draw(statisticsText, at: corner, in: whole) }
        if microphone != nil { painter?.draw("The device hears your microphone.", at: .topRight, in: whole) }
        if let message { painter?.draw(message.text, at: .bottomRight, in: whole) }
        SDL_RenderPresent(window.renderer)
    }

    /// The corner of the statistics.
    private var corner: TextPainter.Place {
        TextPainter.Place(rawValue: settings.corner).flatMap { $0 == .middle ? nil : $0 } ?? .topLeft
    }

    /// Shows that the person controls the device.
    private func drawFrame(_ whole: PixelRectangle) {
        SDL_SetRenderDrawColor(window.renderer, 0xE8, 0x59, 0x0C, 255)
        for inset in 0..<3 {
            var edge = SDL_Rect(
                PixelRectangle(x: inset, y: inset, width: whole.width - 2 * inset, height: whole.height - 2 * inset)
            )
            SDL_RenderDrawRect(window.renderer, &edge)
        }
    }

    /// Where each shown session is.
    private func cells(width: Int, height: Int) -> [(index: Int, cell: PixelRectangle)] {
        if let selected { return [(selected, PixelRectangle(x: 0, y: 0, width: width, height: height))] }
        return Array(WallLayout.cells(feeds.count, width: width, height: height).enumerated())
            .map { ($0.offset, $0.element) }
    }

    private func place(of index: Int, in cell: PixelRectangle) -> PicturePlace? {
        let texture = textures[index]
        guard texture.isFilled else { return nil }
        return PicturePlace(
            width: texture.width,
            height: texture.height,
            orientation: texture.orientation,
            in: cell,
            isUnscaled: isUnscaled && selected != nil
        )
    }

    private func statistics(of feed: SessionFeed) -> String {
        guard let statistics = feed.statistics else { return feed.name }
        let sound = loudspeaker.map { "\($0.delay) ms waiting, \($0.holes) holes" }
        return StatisticsText.text(
            statistics,
            feed.live?.facts,
            name: feed.name,
            sound: sound,
            drawing: window.drawingName
        )
    }

    /// Says why the relay refused input. What came while it was asked for control, or after its end, goes without.
    private func tell(_ refusal: Refusal) {
        guard control?.state == .on, refusal.reason != "not_controlling" else { return }
        tell("Refused: \(refusal.detail)")
    }

    private func tell(_ text: String) {
        message = (text, Self.now + Self.messageTime)
        needsDrawing = true
    }

    // MARK: Events

    private func handle(_ event: SDL_Event) {
        switch SDL_EventType(event.type) {
        case SDL_QUIT: isOver = true
        case SDL_WINDOWEVENT: handle(event.window)
        case SDL_RENDER_TARGETS_RESET, SDL_RENDER_DEVICE_RESET: needsDrawing = true
        case SDL_KEYDOWN: keyDown(event.key)
        case SDL_KEYUP: control?.keyUp(scancode: Int32(event.key.keysym.scancode.rawValue), name: name(event.key))
        case SDL_TEXTINPUT: control?.text(text(event.text))
        case SDL_MOUSEMOTION: moved(event.motion)
        case SDL_MOUSEBUTTONDOWN, SDL_MOUSEBUTTONUP: button(event.button)
        case SDL_MOUSEWHEEL: wheel(event.wheel)
        default: break
        }
    }

    private func handle(_ event: SDL_WindowEvent) {
        switch SDL_WindowEventID(UInt32(event.event)) {
        case SDL_WINDOWEVENT_FOCUS_LOST: endControl()
        case SDL_WINDOWEVENT_RESIZED where !window.isFullScreen && hasFitted:
            (settings.width, settings.height) = (Int(event.data1), Int(event.data2))
        default: break
        }
        needsDrawing = true
    }

    private func name(_ event: SDL_KeyboardEvent) -> String { String(cString: SDL_GetKeyName(event.keysym.sym)) }

    private func text(_ event: SDL_TextInputEvent) -> String {
        withUnsafeBytes(of: event.text) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }

    private func keyDown(_ event: SDL_KeyboardEvent) {
        let (name, modifiers) = (name(event), UInt32(event.keysym.mod))
        guard control?.state != .on else {
            // Keys of characters are those below the bit for scancodes.
            let value = UInt32(bitPattern: event.keysym.sym)
            let character = (0x20..<0x4000_0000).contains(value) && value != 0x7F ? Unicode.Scalar(value) : nil
            let key = KeyboardState.Key(
                scancode: Int32(event.keysym.scancode.rawValue),
                name: name,
                character: character,
                isRepeat: event.repeat != 0,
                hasShift: modifiers & KMOD_SHIFT.rawValue != 0,
                isCommand: modifiers & (KMOD_CTRL.rawValue | KMOD_LALT.rawValue | KMOD_GUI.rawValue) != 0
            )
            control?.keyDown(key, now: Self.now)
            return
        }
        let isPlain = modifiers & (KMOD_CTRL.rawValue | KMOD_ALT.rawValue | KMOD_GUI.rawValue) == 0
        guard Self.now >= shortcutsFrom else { return }
        if isPlain, event.repeat == 0, let shortcut = Shortcut(key: name) { carryOut(shortcut) }
    }

    // MARK: Shortcuts

    private func carryOut(_ shortcut: Shortcut) {
        needsDrawing = true
        switch shortcut {
        case .quit: isOver = true
        case .fullScreen: toggleFullScreen()
        case .scale: isUnscaled.toggle()
        case .statistics:
            settings.showsStatistics.toggle()
            refreshDue = 0
        case .moveStatistics: settings.corner = corner.next.rawValue
        case .mute:
            settings.isMuted.toggle()
            soundFault = nil
            tell(settings.isMuted ? "Sound is off." : "Sound is on.")
        case .louder: setVolume(settings.volume + Self.volumeStep)
        case .quieter: setVolume(settings.volume - Self.volumeStep)
        case .save: save()
        case .keyframe: selected.flatMap { feeds[$0].live }?.requestKeyframe()
        case .speak:
            speaks.toggle()
            tell(speaks ? "The microphone is on while you control a device." : "The microphone stays off.")
        case .wall: select(feeds.count > 1 ? nil : 0)
        case .next: select(((selected ?? -1) + 1) % feeds.count)
        case .help: message = message?.text == Shortcut.helpText ? nil : (Shortcut.helpText, .max)
        }
    }

    private func toggleFullScreen() {
        window.isFullScreen.toggle()
        settings.isFullScreen = window.isFullScreen
        guard !window.isFullScreen else { return }
        if let width = settings.width, let height = settings.height {
            window.resize(width: width, height: height)
        } else if let size = (selected ?? feeds.indices.first).flatMap({ feeds[$0].lastFrame?.uprightSize }) {
            window.fit(width: size.width, height: size.height)
        }
    }

    private func setVolume(_ volume: Double) {
        settings.volume = min(max((volume * 10).rounded() / 10, 0), 1)
        loudspeaker?.setVolume(settings.volume)
        tell("Volume: \(Int((settings.volume * 100).rounded())) %")
    }

    private func select(_ index: Int?) {
        guard index != selected else { return }
        endControl()
        (selected, refreshDue) = (index, 0)
        if index == nil, settings.showsStatistics { tell("Select a session to see its statistics.") }
    }

    /// Plays the sound of the session that is shown alone, if the person wants it.
    private func followSound() {
        let heard = settings.isMuted || soundFault != nil ? nil : selected.flatMap { feeds[$0].hasSound ? $0 : nil }
        if heard != nil, loudspeaker == nil {
            do throws(ViewerError) {
                loudspeaker = try Loudspeaker(named: options.speaker ?? settings.speaker, volume: settings.volume)
                settings.speaker = options.speaker ?? settings.speaker
            } catch {
                soundFault = error.description
                tell(error.description)
            }
        }
        for (index, feed) in feeds.enumerated() { feed.hear(index == heard ? loudspeaker : nil) }
    }

    private func save() {
        guard let index = selected else { return tell("Show one session alone first: Tab.") }
        guard let frame = feeds[index].lastFrame, let png = frame.png() else {
            return tell("There is no picture to save.")
        }
        var (seconds, parts) = (time(nil), tm())
        localtime_r(&seconds, &parts)
        let stamp = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            strftime(text.baseAddress!, text.count, "%Y%m%d-%H%M%S", &parts)
            return String(cString: text.baseAddress!)
        }
        let name = feeds[index].name.map { $0.isLetter || $0.isNumber ? $0 : "-" }
        let path = "\(String(name))-\(stamp).png"
        guard let file = fopen(path, "wx") else {
            return tell("Cannot write \(path): \(String(cString: strerror(errno)))")
        }
        let isWritten = fwrite(png, 1, png.count, file) == png.count
        tell(fclose(file) == 0 && isWritten ? "Saved \(path)" : "Cannot write \(path): the disk may be full")
    }

    // MARK: Control

    private func begin(_ index: Int, takes: Bool) {
        guard options.mayControl, let live = feeds[index].live else { return }
        if let control = live.control, !control.may {
            return tell("You may only look: \(control.why ?? "the relay gives no reason")")
        }
        control = HandControl(feeds[index])
        control?.begin(takes: takes)
    }

    private func followControl() {
        switch control?.follow() {
        case .begun:
            SDL_SetWindowKeyboardGrab(window.handle, SDL_TRUE)
            SDL_ShowCursor(SDL_DISABLE)
            tell("You control \(control?.feed.name ?? "the device"). Hold Escape for a second to stop.")
            if speaks { speak() }
        case .ended(let reason):
            endControl()
            shortcutsFrom = Self.now + Self.restTime
            tell(reason)
        case nil: break
        }
    }

    private func speak() {
        guard let feed = control?.feed, let live = feed.live else { return }
        guard live.control?.hasMicrophone == true else { return tell("\(feed.name) has no microphone.") }
        do throws(ViewerError) {
            microphone = try Microphone(to: live)
        } catch {
            tell(error.description)
        }
    }

    private func endControl() {
        microphone?.close()
        (microphone, speaks) = (nil, false)
        guard let control else { return }
        control.end()
        self.control = nil
        SDL_SetWindowKeyboardGrab(window.handle, SDL_FALSE)
        SDL_ShowCursor(SDL_ENABLE)
        needsDrawing = true
    }

    /// Returns the session at a point in the desktop's units, and the place in its picture: that of the controlled
    /// session, wherever the point is.
    private func point(_ x: Int32, _ y: Int32) -> (index: Int, place: Input.Place, isInside: Bool)? {
        let (size, scale) = (window.size, window.scale)
        let (x, y) = ((Double(x) + 0.5) * scale, (Double(y) + 0.5) * scale)
        let cells = cells(width: size.width, height: size.height)
        let controlled = cells.first { feeds[$0.index] === control?.feed }
        guard let (index, cell) = controlled ?? cells.first(where: { $0.cell.contains(x: x, y: y) }),
            let place = place(of: index, in: cell)
        else { return nil }
        let point = place.picturePoint(x: x, y: y)
        let input = Input.Place(x: point.x, y: point.y, geometry: geometries[index])
        return (index, input, place.area.contains(x: x, y: y))
    }

    private func moved(_ event: SDL_MouseMotionEvent) {
        guard control?.state == .on, let (_, place, isInside) = point(event.x, event.y) else { return }
        if isInside || event.state != 0 { control?.moved(to: place, now: Self.now) }
    }

    private func button(_ event: SDL_MouseButtonEvent) {
        guard let (index, place, isInside) = point(event.x, event.y) else { return }
        let isDown = SDL_EventType(event.type) == SDL_MOUSEBUTTONDOWN
        guard control?.state != .on else {
            guard let button = Input.Button(sdl: event.button) else { return }
            control?.button(button, isDown: isDown, at: place, isInside: isInside)
            return
        }
        guard isDown, isInside, event.button == 1, control == nil else { return }
        if selected == nil {
            select(index)
        } else {
            begin(index, takes: SDL_GetModState().rawValue & KMOD_SHIFT.rawValue != 0)
        }
    }

    private func wheel(_ event: SDL_MouseWheelEvent) {
        guard control?.state == .on, let (_, place, isInside) = point(event.mouseX, event.mouseY), isInside else {
            return
        }
        let sign = event.direction == SDL_MOUSEWHEEL_FLIPPED.rawValue ? -1.0 : 1
        control?.wheel(right: sign * Double(event.x), down: -sign * Double(event.y), at: place)
    }
}

extension Input.Button {
    /// - Parameter sdl: SDL's number.
    fileprivate init?(sdl: UInt8) {
        switch Int32(sdl) {
        case SDL_BUTTON_LEFT: self = .left
        case SDL_BUTTON_MIDDLE: self = .middle
        case SDL_BUTTON_RIGHT: self = .right
        case SDL_BUTTON_X1: self = .back
        case SDL_BUTTON_X2: self = .forward
        default: return nil
        }
    }
}
