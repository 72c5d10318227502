/// Removes items' files with all that belongs to them.
final class ItemFiles {
    private let root: DiskFolder
    /// The last folder, because neighbours are often removed together.
    private var last: (path: String, folder: DiskFolder, names: [String])?

    init(folder: String) throws(LibraryError) { root = try DiskFolder(path: folder) }

    /// Removes an item's file, its thumbnail and its storyboard. Missing ones are fine.
    ///
    /// - Parameter path: The item's path, relative to the library's folder.
    func remove(_ path: String) throws(LibraryError) {
        let (place, own, stem) = try LibraryLayout.parts(of: path)
        if last?.path != place {
            guard let folder = root.find(place) else { return last = nil }
            last = (place, folder, try folder.entries().map(\.name))
        }
        guard let (_, folder, names) = last else { return }
        // A file that came after the folder was listed is the item's own, so it is removed by its name.
        for name in names where name.hasPrefix(stem) && LibraryLayout.owner(ofCompanion: name, among: names) == stem {
            try folder.remove(name)
        }
        for name in [stem + ".jpg", stem + ".vtt", own] { try folder.remove(name) }
        folder.sync()
    }
}
