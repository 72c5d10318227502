extension SourceError {
    /// What the want of a descriptor or a thread means for a source.
    init(_ shortage: ResourceShortage) {
        let cause =
            switch shortage {
            case .descriptors: "no_descriptors"
            case .threads: "no_threads"
            }
        self = .unavailable(cause: cause, detail: "\(shortage) The source is opened again.")
    }

    /// Runs `body`; what it throws becomes a source's error.
    static func explainingShortage<Value>(
        _ body: () throws(ResourceShortage) -> Value
    ) throws(SourceError) -> Value {
        do throws(ResourceShortage) {
            return try body()
        } catch {
            throw SourceError(error)
        }
    }
}
