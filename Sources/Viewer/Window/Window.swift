import CSDL
import Synchronization

/// A window, and what draws into it.
@MainActor
final class Window {
    /// OpenGL on the processor, as its own name says. SDL's own renderer draws pictures faster there.
    private static let softwareNames = ["llvmpipe", "softpipe", "swrast", "software rasterizer", "swiftshader"]
    /// `GL_RENDERER` (OpenGL 4.6, 22.2).
    private static let rendererName: UInt32 = 0x1F01

    /// Smaller windows could show no message.
    private static let leastSize = (width: 320, height: 240)

    let handle: OpaquePointer
    let renderer: OpaquePointer
    /// The name of what draws, for people.
    let drawingName: String

    /// Opens a window. SDL's video must have been initialized.
    ///
    /// - Parameter drawing: One of SDL's renderers, such as `software` or `opengl`. `nil` is the graphics card if there
    ///   is one, else the processor.
    init(
        title: String,
        width: Int,
        height: Int,
        isFullScreen: Bool,
        drawing: String?,
        waitsForDisplay: Bool
    ) throws(ViewerError) {
        // The picture is scaled smoothly, and the desktop keeps its compositor and its screen saver.
        SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear")
        SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0")
        SDL_SetHint(SDL_HINT_VIDEO_ALLOW_SCREENSAVER, "1")
        // While a person controls a device, that key is for it, too.
        SDL_SetHint(SDL_HINT_ALLOW_ALT_TAB_WHILE_GRABBED, "0")
        let undefined = Int32(bitPattern: UInt32(SDL_WINDOWPOS_UNDEFINED_MASK))
        var flags = SDL_WINDOW_RESIZABLE.rawValue | SDL_WINDOW_ALLOW_HIGHDPI.rawValue
        var place = SDL_Rect(x: undefined, y: undefined, w: Int32(clamping: width), h: Int32(clamping: height))
        if isFullScreen {
            flags |= SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue
            // Without a window manager, nothing else makes it large.
            SDL_GetDisplayBounds(0, &place)
        }
        guard let handle = SDL_CreateWindow(title, place.x, place.y, place.w, place.h, flags) else {
            throw .ofSDL("cannot open a window")
        }
        SDL_SetWindowMinimumSize(handle, Int32(Self.leastSize.width), Int32(Self.leastSize.height))
        do throws(ViewerError) {
            (renderer, drawingName) = try Self.renderer(of: handle, drawing, waitsForDisplay)
        } catch {
            SDL_DestroyWindow(handle)
            throw error
        }
        self.handle = handle
    }

    func close() {
        SDL_DestroyRenderer(renderer)
        SDL_DestroyWindow(handle)
    }

    private static func renderer(
        of window: OpaquePointer,
        _ drawing: String?,
        _ waitsForDisplay: Bool
    ) throws(ViewerError) -> (OpaquePointer, String) {
        let flags = waitsForDisplay ? SDL_RENDERER_PRESENTVSYNC.rawValue : 0
        // SDL's own renderer would copy its picture by OpenGL otherwise, which is slow on the processor.
        SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0")
        if let name = drawing {
            guard names.contains(name) else {
                throw ViewerError("there is no renderer '\(name)': use \(names.joined(separator: ", "))")
            }
            SDL_SetHint(SDL_HINT_RENDER_DRIVER, name)
        }
        guard let renderer = SDL_CreateRenderer(window, -1, flags) else {
            throw .ofSDL("cannot draw into the window")
        }
        guard drawing == nil, isSoftware(renderer) else { return (renderer, name(of: renderer)) }
        SDL_DestroyRenderer(renderer)
        // Not all displays have a way for pixels of the processor: Wayland has none in SDL.
        let software = SDL_CreateRenderer(window, -1, flags | SDL_RENDERER_SOFTWARE.rawValue)
        guard let renderer = software ?? SDL_CreateRenderer(window, -1, flags) else {
            throw .ofSDL("cannot draw into the window")
        }
        return (renderer, name(of: renderer))
    }

    /// The names of SDL's renderers here.
    private static var names: [String] {
        (0..<max(0, SDL_GetNumRenderDrivers())).compactMap { number in
            var information = SDL_RendererInfo()
            guard SDL_GetRenderDriverInfo(number, &information) == 0 else { return nil }
            return information.name.map { String(cString: $0) }
        }
    }

    private static func name(of renderer: OpaquePointer) -> String {
        var information = SDL_RendererInfo()
        guard SDL_GetRendererInfo(renderer, &information) == 0, let name = information.name else { return "unknown" }
        return String(cString: name)
    }

    /// Returns whether a renderer is OpenGL on the processor.
    private static func isSoftware(_ renderer: OpaquePointer) -> Bool {
        guard name(of: renderer).hasPrefix("opengl"), let function = SDL_GL_GetProcAddress("glGetString") else {
            return false
        }
        typealias GetString = @convention(c) (UInt32) -> UnsafePointer<CChar>?
        // Safe because this is the function's type (OpenGL 4.6, 22.2).
        let getString = unsafeBitCast(function, to: GetString.self)
        guard let text = getString(rendererName) else { return false }
        let name = String(cString: text).lowercased()
        return softwareNames.contains { name.contains($0) }
    }

    // MARK: Geometry

    /// In pixels, which are smaller than the desktop's units on some displays.
    var size: (width: Int, height: Int) {
        var (width, height): (Int32, Int32) = (1, 1)
        SDL_GetRendererOutputSize(renderer, &width, &height)
        return (max(1, Int(width)), max(1, Int(height)))
    }

    /// All of it.
    var area: PixelRectangle { PixelRectangle(x: 0, y: 0, width: size.width, height: size.height) }

    /// Pixels for each of the desktop's units.
    var scale: Double {
        var (width, height): (Int32, Int32) = (1, 1)
        SDL_GetWindowSize(handle, &width, &height)
        return Double(size.width) / Double(max(1, width))
    }

    var isFullScreen: Bool {
        get { SDL_GetWindowFlags(handle) & SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue != 0 }
        set { SDL_SetWindowFullscreen(handle, newValue ? SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue : 0) }
    }

    /// Makes the window as large as a picture, if the display has the room, or smaller with its shape.
    func fit(width: Int, height: Int) {
        let display = SDL_GetWindowDisplayIndex(handle)
        var room = SDL_Rect()
        guard !isFullScreen, SDL_GetDisplayUsableBounds(display, &room) == 0, room.w > 0, room.h > 0 else { return }
        let scale = scale
        let (width, height) = (Double(width) / scale, Double(height) / scale)
        let factor = min(1, Double(room.w) / width, Double(room.h) / height)
        resize(width: Int(width * factor), height: Int(height * factor))
    }

    /// Sets the size in the desktop's units.
    func resize(width: Int, height: Int) {
        let (width, height) = (max(width, Self.leastSize.width), max(height, Self.leastSize.height))
        SDL_SetWindowSize(handle, Int32(clamping: width), Int32(clamping: height))
    }

    /// Draws a frame around it, which shows that the person controls the device.
    func drawFrame() {
        let area = area
        SDL_SetRenderDrawColor(renderer, 0xE8, 0x59, 0x0C, 255)
        for inset in 0..<3 {
            var edge = SDL_Rect(
                PixelRectangle(x: inset, y: inset, width: area.width - 2 * inset, height: area.height - 2 * inset)
            )
            SDL_RenderDrawRect(renderer, &edge)
        }
    }

    // MARK: Waking

    /// The number of SDL's event that wakes the window's thread; 0 before there is one.
    nonisolated private static let isAwake = Atomic(false)
    nonisolated private static let wakeType = Atomic<UInt32>(0)

    /// Allows ``wake()`` to be called.
    static func prepareWaking() { wakeType.store(SDL_RegisterEvents(1), ordering: .releasing) }

    /// Wakes the thread of the window, which looks for what is new. Any thread may call it.
    nonisolated static func wake() {
        let type = wakeType.load(ordering: .acquiring)
        guard type != 0, !isAwake.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var event = SDL_Event()
        event.type = type
        SDL_PushEvent(&event)
    }

    /// Notes that the thread looks now.
    nonisolated static func looked() { isAwake.store(false, ordering: .releasing) }
}
