import Media
import NIOCore
import Packaging

/// A session's streams in the containers that somebody watches: each picture is packaged once for all viewers.
@MediaLoop
struct ContainerStreams {
    private let codec: Codec
    /// Pictures a second.
    var fps: Int {
        didSet { fragments?.fps = fps }
    }

    private var packets: TransportStream?
    private var fragments: FragmentedMP4?
    /// The initialization segment of ``fragments``.
    private var initialization: ByteBuffer?

    init(codec: Codec, fps: Int) {
        self.codec = codec
        self.fps = fps
    }

    /// Begins the container's stream if nobody watched it yet.
    ///
    /// - Parameter pictures: All that a viewer which joins now may be given from the cache. The first viewer may join live, and
    ///   the next one from the cache.
    mutating func begin(_ container: Container, with pictures: [Picture]) {
        switch container {
        case .transportStream:
            guard packets == nil else { return }
            packets = TransportStream(codec: codec)
        case .fragmentedMP4:
            guard fragments == nil else { return }
            fragments = FragmentedMP4(codec: codec, fps: fps)
        }
        for picture in pictures { package(picture, in: container) }
    }

    /// Ends the streams that nobody watches.
    mutating func end(allBut containers: Set<Container>) {
        if !containers.contains(.transportStream) { packets = nil }
        if !containers.contains(.fragmentedMP4) { (fragments, initialization) = (nil, nil) }
    }

    /// Packages the session's next picture.
    mutating func package(_ picture: Picture) {
        if packets != nil { package(picture, in: .transportStream) }
        if fragments != nil { package(picture, in: .fragmentedMP4) }
    }

    /// A picture that cannot be packaged has no chunk, not even a former stream's, and neither have those that depend on it.
    private mutating func package(_ picture: Picture, in container: Container) {
        picture.packaged[container] = chunk(of: picture, in: container)
    }

    private mutating func chunk(of picture: Picture, in container: Container) -> PackagedPicture.Chunk? {
        let bytes = Array(picture.bytes(in: .annexB).readableBytesView)
        switch container {
        case .transportStream:
            guard let chunk = try? packets?.packets(bytes, pts: picture.pts, isKey: picture.isKey) else { return nil }
            return PackagedPicture.Chunk(bytes: ByteBuffer(bytes: chunk))
        case .fragmentedMP4:
            guard let fragment = try? fragments?.fragment(bytes, pts: picture.pts, isKey: picture.isKey) else {
                return nil
            }
            if fragment.changesInitialization {
                initialization = fragments?.initialization.map { ByteBuffer(bytes: $0.bytes) }
            }
            return PackagedPicture.Chunk(
                bytes: ByteBuffer(bytes: fragment.bytes),
                beginning: picture.isKey ? initialization : nil
            )
        }
    }
}
