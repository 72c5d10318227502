package import Media

/// Where a frame's pixels are.
package enum FrameContents: Sendable {
    /// In memory, for any reader.
    case memory(FramePixels)
    /// In a DMA-BUF, for an encoder that imports it.
    case dmaBuf(DMABuf)

    package var description: FrameDescription {
        switch self {
        case .memory(let pixels): pixels.description
        case .dmaBuf(let buffer): buffer.description
        }
    }
}
