import Media

/// The memory of a source's shots: used again when no frame reads it any more, and made anew when the size changes.
struct ShotPool<Attachment> {
    /// Sessions hold two frames each at most, most of them the same ones.
    private static var capacity: Int { 16 }

    private let attach: (ShotMemory) throws(ShotError) -> Attachment
    private let detach: (Attachment) -> Void
    private var members: [(memory: ShotMemory, attachment: Attachment)] = []

    /// - Parameters:
    ///   - attach: Makes new memory known to the display server.
    ///   - detach: Takes that back; frames may still read the memory.
    init(attach: @escaping (ShotMemory) throws(ShotError) -> Attachment, detach: @escaping (Attachment) -> Void) {
        self.attach = attach
        self.detach = detach
    }

    /// Memory of that kind that nobody reads, with what the display server knows it as.
    mutating func take(
        _ description: FrameDescription
    ) throws(ShotError) -> (memory: ShotMemory, attachment: Attachment) {
        if let first = members.first, first.memory.description != description { removeAll() }
        if let free = members.first(where: { $0.memory.isFree }) { return free }
        guard members.count < Self.capacity else {
            throw .failed(cause: "screenshot_memory", detail: "The sessions hold too many pictures.")
        }
        guard let memory = ShotMemory(description) else {
            throw .failed(
                cause: "screenshot_memory",
                detail: "There is no memory for a picture of \(description.size)."
            )
        }
        let member = (memory: memory, attachment: try attach(memory))
        members.append(member)
        return member
    }

    mutating func removeAll() {
        for member in members { detach(member.attachment) }
        members = []
    }
}
