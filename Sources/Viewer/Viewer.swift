@preconcurrency import CSDL
@preconcurrency import Glibc
import HeliographClient
import HeliographDecode
import NIOCore
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
        /// Whether pictures get the window's size.
        package var matchesWindow = false

        package init() {}
    }

    /// The size of a window before its first picture.
    private static let firstSize = (width: 1280, height: 720)
    /// The time between two drawings of a wall, ns. A single session is drawn at once.
    private static let wallInterval: UInt64 = 16_000_000
    private static let second: UInt64 = 1_000_000_000
    /// How long the window must have kept its size before pictures get it, ns.
    private static let modeDelay: UInt64 = 250_000_000
    /// How long a message stays, ns.
    private static let messageTime: UInt64 = 4_000_000_000

    let feeds: [SessionFeed]
    let options: Options
    package internal(set) var settings: ViewerSettings

    let window: Window
    let wall: Wall
    private let painter: TextPainter?
    var loudspeaker: Loudspeaker?
    var control: HandControl?
    /// Whether the person speaks to the device that is controlled next.
    var speaks = false
    /// Whether the pointer is locked in the device that is controlled next, or now.
    var locksPointer = false
    var microphone: Microphone?
    let pads = Pads()
    /// The gamepad that the controlled device has of this machine; `nil` for none.
    var gamepad: (link: GamepadLink, running: Task<Void, Never>, name: String)?

    /// From when on keys are shortcuts, ns. Those before were meant for the device that was controlled.
    var shortcutsFrom: UInt64 = 0
    /// Why no sound can be played here; `nil` if it can.
    var soundFault: String?
    var message: (text: String, until: UInt64)?
    private var statisticsText = ""
    /// When the statistics are made anew, ns.
    var refreshDue: UInt64 = 0
    var needsDrawing = true
    private var drawn: UInt64 = 0
    /// When pictures get the window's size, ns; `nil` if they have it.
    private var modeDue: UInt64?
    /// Whether the window has the size of a picture, or that of the last time.
    private var hasFitted: Bool
    var isOver = false

    /// Opens the window.
    ///
    /// - Parameter feeds: At least one, which have not begun.
    package init(_ feeds: [SessionFeed], _ options: Options, _ settings: ViewerSettings) throws(ViewerError) {
        (self.feeds, self.options, self.settings) = (feeds, options, settings)
        self.settings.isFullScreen = options.isFullScreen ?? settings.isFullScreen
        self.settings.isMuted = options.isMuted ?? settings.isMuted
        self.settings.showsStatistics = options.showsStatistics ?? settings.showsStatistics
        hasFitted = settings.width != nil
        // Otherwise the window first takes the picture's size.
        modeDue = options.matchesWindow && hasFitted ? Self.now : nil
        guard SDL_InitSubSystem(SDL_INIT_VIDEO) == 0 else { throw .ofSDL("there is no display") }
        Window.prepareWaking()
        window = try Window(
            title: options.title,
            width: settings.width ?? Self.firstSize.width,
            height: settings.height ?? Self.firstSize.height,
            isFullScreen: self.settings.isFullScreen,
            drawing: options.renderer,
            waitsForDisplay: options.waitsForDisplay
        )
        wall = Wall(feeds, window)
        // Without a font, pictures are shown all the same.
        let fault: String?
        do throws(ViewerError) {
            (painter, fault) = (try TextPainter(window, scale: window.scale), nil)
        } catch {
            (painter, fault) = (nil, error.description)
        }
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
        endControl()
        for feed in feeds { feed.close() }
        loudspeaker?.close()
        pads.close()
        wall.close()
        painter?.close()
        window.close()
    }

    /// The monotonic clock, ns.
    static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

    /// How long to wait for an event, in ms; -1 for any time.
    private var timeout: Int32 {
        let now = Self.now
        let due = [
            control?.due, message?.until, settings.showsStatistics ? refreshDue : nil,
            needsDrawing ? drawn + Self.wallInterval : nil,
            // Nothing can be asked for before the first picture, which wakes the loop.
            wall.shown?.lastFrame == nil ? nil : modeDue,
        ]
        guard let next = due.compactMap({ $0 }).min() else { return -1 }
        return next > now ? Int32(clamping: (next - now + 999_999) / 1_000_000) : 0
    }

    /// Takes what is new, and draws it.
    private func update() {
        let now = Self.now
        let isDue = wall.selected != nil || now >= drawn + Self.wallInterval
        for feed in feeds {
            if let refusal = feed.takeRefusal() { tell(refusal) }
            if let news = feed.takeNews() { tell(news) }
            if let status = feed.takeGamepad() { followGamepad(status) }
        }
        matchWindow(now: now)
        followSound()
        if control?.tick(now: now) == true { endControl() }
        followControl()
        guard isDue else {
            needsDrawing = true
            return
        }
        takePictures()
        if let message, now >= message.until {
            self.message = nil
            needsDrawing = true
        }
        if settings.showsStatistics, now >= refreshDue {
            refreshDue = now + Self.second
            statisticsText = wall.shown.map(statistics) ?? ""
            needsDrawing = true
        }
        guard needsDrawing else { return }
        draw()
        (needsDrawing, drawn) = (false, now)
        wall.presented()
    }

    /// Asks for pictures of the window's size, once it has kept that for a while.
    private func matchWindow(now: UInt64) {
        guard let due = modeDue, now >= due, let feed = wall.shown, let frame = feed.lastFrame else { return }
        modeDue = nil
        let (width, height) = (window.area.width & ~1, window.area.height & ~1)
        guard frame.uprightSize != (width, height) else { return }
        feed.requestMode(width: width, height: height)
    }

    private func takePictures() {
        do throws(ViewerError) {
            if try wall.takePictures() { needsDrawing = true }
        } catch {
            tell(error.description)
        }
        guard !hasFitted, let size = wall.shown?.lastFrame?.uprightSize else { return }
        hasFitted = true
        window.fit(width: size.width, height: size.height)
    }

    // MARK: Drawing

    private func draw() {
        wall.draw(by: painter)
        if control?.state == .on { window.drawFrame() }
        if settings.showsStatistics, wall.selected != nil {
            painter?.draw(statisticsText, at: .corner(settings.corner), in: window.area)
        }
        if microphone != nil {
            painter?.draw("The device hears your microphone.", at: .corner(.topRight), in: window.area)
        }
        if let message { painter?.draw(message.text, at: .corner(.bottomRight), in: window.area) }
        SDL_RenderPresent(window.renderer)
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

    func tell(_ text: String) {
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
        case SDL_FINGERDOWN, SDL_FINGERMOTION, SDL_FINGERUP: finger(event.tfinger)
        default: if pads.handle(event) { sendGamepad() }
        }
    }

    private func handle(_ event: SDL_WindowEvent) {
        switch SDL_WindowEventID(UInt32(event.event)) {
        case SDL_WINDOWEVENT_FOCUS_LOST: endControl()
        case SDL_WINDOWEVENT_RESIZED where !window.isFullScreen && hasFitted:
            (settings.width, settings.height) = (Int(event.data1), Int(event.data2))
        case SDL_WINDOWEVENT_SIZE_CHANGED where options.matchesWindow && hasFitted: modeDue = Self.now + Self.modeDelay
        default: break
        }
        needsDrawing = true
    }
}
