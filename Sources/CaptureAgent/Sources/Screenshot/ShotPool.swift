import Media

/// The memory of a source's shots. It is reused when no frame reads it any more, and replaced when the size changes.
struct ShotPool<Attachment> {
    /// Each session holds at most two frames, and most sessions hold the same ones.
    private static var capacity: Int { 16 }

    private let attach: (ShotMemory) throws(ShotError) -> Attachment
    private let detach: (Attachment) -> Void
    private var members: [(memory: ShotMemory, attachment: Attachment)] = []

    /// - Parameters:
    ///   - attach: Registers new memory with the display server.
    ///   - detach: Undoes that; frames may still read the memory.
    init(attach: @escaping (ShotMemory) throws(ShotError) -> Attachment, detach: @escaping (Attachment) -> Void) {
        self.attach = attach
        self.detach = detach
    }

    /// Returns free memory of that description, with the display server's handle for it.
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
                detail: "Not enough memory for a picture of \(description.size)."
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
