import CSDL

/// Draws lines of text, on a dark ground.
@MainActor
final class TextPainter {
    /// Where the distributions' packages have the font: fonts-dejavu-core.
    private static let paths = [
        "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
        "/usr/share/fonts/dejavu-sans-mono-fonts/DejaVuSansMono.ttf",
        "/usr/share/fonts/TTF/DejaVuSansMono.ttf",
    ]
    private static let size: Int32 = 14
    private static let padding = 8
    private static let colour = SDL_Color(r: 240, g: 240, b: 240, a: 255)
    private static let ground = SDL_Color(r: 16, g: 16, b: 16, a: 200)

    private let renderer: OpaquePointer
    private let font: OpaquePointer
    /// A text as a texture.
    private struct Drawn {
        let texture: OpaquePointer
        let width, height: Int
    }

    /// A text, and the width at which its lines break.
    private struct Key: Hashable {
        let text: String
        let width: Int
    }

    /// The texts that were drawn last: most drawings have the same ones.
    private var cache: [Key: Drawn] = [:]
    private static let mostCached = 64
    /// The most characters of a text, which a relay may have sent.
    private static let mostCharacters = 1000

    /// - Parameter scale: Pixels for each of the desktop's units.
    init(_ window: Window, scale: Double) throws(ViewerError) {
        guard TTF_Init() == 0 else { throw .ofSDL("cannot draw text") }
        let size = Int32((Double(Self.size) * scale).rounded())
        guard let font = Self.paths.lazy.compactMap({ TTF_OpenFont($0, size) }).first else {
            throw ViewerError("there is no font for text: install fonts-dejavu-core")
        }
        (renderer, self.font) = (window.renderer, font)
    }

    func close() {
        forget()
        TTF_CloseFont(font)
    }

    /// A place in a cell.
    enum Place {
        case corner(Corner)
        case middle
    }

    /// Draws a text of one or more lines in a cell.
    func draw(_ text: String, at place: Place, in cell: PixelRectangle) {
        guard let drawn = drawn(text, width: max(1, cell.width - 2 * Self.padding)) else { return }
        let (width, height) = (drawn.width, drawn.height)
        let (boxWidth, boxHeight) = (width + 2 * Self.padding, height + 2 * Self.padding)
        let (right, bottom) = (cell.x + cell.width - boxWidth, cell.y + cell.height - boxHeight)
        let (x, y) =
            switch place {
            case .corner(.topLeft): (cell.x, cell.y)
            case .corner(.topRight): (right, cell.y)
            case .corner(.bottomRight): (right, bottom)
            case .corner(.bottomLeft): (cell.x, bottom)
            case .middle: ((cell.x + right) / 2, (cell.y + bottom) / 2)
            }
        var box = SDL_Rect(PixelRectangle(x: x, y: y, width: boxWidth, height: boxHeight))
        SDL_SetRenderDrawBlendMode(renderer, SDL_BLENDMODE_BLEND)
        SDL_SetRenderDrawColor(renderer, Self.ground.r, Self.ground.g, Self.ground.b, Self.ground.a)
        SDL_RenderFillRect(renderer, &box)
        var target = SDL_Rect(
            PixelRectangle(x: x + Self.padding, y: y + Self.padding, width: width, height: height)
        )
        SDL_RenderCopy(renderer, drawn.texture, nil, &target)
    }

    private func drawn(_ text: String, width: Int) -> Drawn? {
        let key = Key(text: String(text.prefix(Self.mostCharacters)), width: width)
        if let drawn = cache[key] { return drawn }
        guard let surface = TTF_RenderUTF8_Blended_Wrapped(font, key.text, Self.colour, UInt32(width)) else {
            return nil
        }
        defer { SDL_FreeSurface(surface) }
        guard let texture = SDL_CreateTextureFromSurface(renderer, surface) else { return nil }
        if cache.count >= Self.mostCached { forget() }
        let drawn = Drawn(texture: texture, width: Int(surface.pointee.w), height: Int(surface.pointee.h))
        cache[key] = drawn
        return drawn
    }

    private func forget() {
        for drawn in cache.values { SDL_DestroyTexture(drawn.texture) }
        cache = [:]
    }
}
