import HeliographAPI
package import Media
package import NIOCore
import Packaging

/// One unit as packaged for the viewers of a rendition.
package final class RenderedUnit: Sendable {
    package let unit: MediaUnit
    package let track: MediaTrack
    package let bytes: ByteBuffer
    /// The bytes before this keyframe for a viewer that begins with it.
    let beginning: ByteBuffer?

    package init(_ unit: MediaUnit, of track: MediaTrack, bytes: ByteBuffer, beginning: ByteBuffer? = nil) {
        self.unit = unit
        self.track = track
        self.bytes = bytes
        self.beginning = beginning
    }
}

/// The muxer of one rendition.
package struct StreamMuxer: Sendable {
    private let format: StreamFormat
    private let codec: Codec
    private var tracks: [MediaTrack]
    private var packets: TransportStream?
    private var fragments: FragmentedMP4?
    /// The initialization segment of ``fragments``.
    private var initialization: ByteBuffer?
    /// Fills the silence of a container's audio track.
    private var fill: SilenceFill
    /// Whether a unit was packaged.
    private var hasBegun = false

    /// Creates a muxer.
    ///
    /// - Parameters:
    ///   - tracks: The tracks: a session's video, and at most one of sound. Containers declare all of them.
    ///   - fps: Pictures per second.
    package init(_ format: StreamFormat, codec: Codec, tracks: [MediaTrack], fps: Int) {
        self.format = format
        self.codec = codec
        self.tracks = tracks
        self.fps = fps
        fill = SilenceFill(tracks.lazy.compactMap(\.soundCodec).first ?? .opus)
        switch format {
        case .bare: break
        case .container(.transportStream): packets = TransportStream(tracks: tracks)
        case .container(.fragmentedMP4): fragments = FragmentedMP4(tracks: tracks, fps: fps)
        }
    }

    /// Pictures per second.
    var fps: Int {
        didSet { fragments?.fps = fps }
    }

    var hasSound: Bool { tracks.contains { $0.kind == .audio } }

    /// Follows the stream's tracks. A container that has begun keeps those that it has declared; without sound they are
    /// silent.
    mutating func follow(_ current: [MediaTrack]) {
        guard case .container = format else { return tracks = current }
        if !hasBegun { self = StreamMuxer(format, codec: codec, tracks: current, fps: fps) }
    }

    /// Returns the track of a unit, if the rendition has it.
    package func track(of unit: MediaUnit) -> MediaTrack? { tracks.first { $0.id == unit.header.track } }

    /// Returns the packets of silence that a container needs before a unit; `nil` if the unit comes too late.
    package mutating func silence(before unit: MediaUnit) -> [MediaUnit]? {
        guard case .container = format, let sound = tracks.first(where: { $0.kind == .audio }) else { return [] }
        return fill.packets(before: unit, of: sound)
    }

    /// Packages a unit. Returns `nil` if that fails.
    package mutating func rendered(_ unit: MediaUnit, of track: MediaTrack) -> RenderedUnit? {
        hasBegun = true
        switch format {
        case .bare(.annexB): return RenderedUnit(unit, of: track, bytes: unit.bytes)
        case .bare(.scrcpy):
            return RenderedUnit(unit, of: track, bytes: ScrcpyFraming.packets(of: unit, codec: codec))
        case .container(.transportStream):
            let bytes: ByteBuffer? = try? packets?.muxed(EncodedUnit(unit.header, unit.bytes))
            return bytes.map { RenderedUnit(unit, of: track, bytes: $0) }
        case .container(.fragmentedMP4):
            let fragment: FragmentedMP4.Fragment<ByteBuffer>? =
                try? fragments?.muxed(EncodedUnit(unit.header, unit.bytes))
            guard let fragment else { return nil }
            if fragment.changesInitialization {
                initialization = fragments?.initialization.map { ByteBuffer(bytes: $0.bytes) }
            }
            let beginning = unit.isVideo && unit.isKey ? initialization : nil
            return RenderedUnit(unit, of: track, bytes: fragment.bytes, beginning: beginning)
        }
    }
}
