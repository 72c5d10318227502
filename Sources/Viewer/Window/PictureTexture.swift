import CSDL
import HeliographDecode

/// The picture of a session, ready to be drawn.
@MainActor
final class PictureTexture {
    private let renderer: OpaquePointer
    private let converter = PixelConverter()
    private var texture: OpaquePointer?
    private(set) var width = 0
    private(set) var height = 0
    private(set) var orientation = 0

    init(_ window: Window) { renderer = window.renderer }

    func close() {
        if let texture { SDL_DestroyTexture(texture) }
        texture = nil
    }

    /// Whether it has a picture.
    var isFilled: Bool { texture != nil }

    /// Takes the pixels of a frame.
    func take(_ frame: Frame) throws(ViewerError) {
        if texture == nil || frame.width != width || frame.height != height {
            close()
            texture = SDL_CreateTexture(
                renderer,
                SDL_PIXELFORMAT_ARGB8888.rawValue,
                Int32(SDL_TEXTUREACCESS_STREAMING.rawValue),
                Int32(PixelConverter.columns(for: frame.width)),
                Int32(frame.height)
            )
            (width, height) = (frame.width, frame.height)
        }
        orientation = frame.orientation
        var (pixels, stride): (UnsafeMutableRawPointer?, Int32) = (nil, 0)
        guard let texture, SDL_LockTexture(texture, nil, &pixels, &stride) == 0, let pixels else {
            throw .ofSDL("cannot draw a picture of \(frame.width)x\(frame.height)")
        }
        let isDone = converter.convert(frame, to: pixels.assumingMemoryBound(to: UInt8.self), stride: Int(stride))
        SDL_UnlockTexture(texture)
        guard isDone else { throw ViewerError("there is no memory for a picture of \(frame.width)x\(frame.height)") }
    }

    func draw(at place: PicturePlace) {
        var target = SDL_Rect(place.unturned)
        var source = SDL_Rect(PixelRectangle(x: 0, y: 0, width: width, height: height))
        guard let texture else { return }
        if place.orientation == 0 {
            SDL_RenderCopy(renderer, texture, &source, &target)
        } else {
            SDL_RenderCopyEx(renderer, texture, &source, &target, Double(place.orientation) * 90, nil, SDL_FLIP_NONE)
        }
    }
}

extension SDL_Rect {
    init(_ rectangle: PixelRectangle) {
        self.init(
            x: Int32(rectangle.x),
            y: Int32(rectangle.y),
            w: Int32(rectangle.width),
            h: Int32(rectangle.height)
        )
    }
}
