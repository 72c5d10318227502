import FoundationEssentials
package import HeliographAPI
package import Library

extension LibraryItem {
    /// Reports an item.
    package init(_ item: Item) {
        self.init()
        let facts = item.facts
        id = Int(item.id)
        recording = facts.recording
        number = Int(facts.number)
        device = facts.device
        session = facts.session
        name = facts.sessionName
        owner = facts.owner
        labels = facts.labels
        state = item.state.name
        start = Date(timeIntervalSince1970: Double(facts.start) / 1e6).apiText
        seconds = Double(facts.duration) / 1e6
        bytes = UInt64(clamping: facts.bytes)
        (width, height, fps) = (Int(facts.width), Int(facts.height), facts.fps)
        tracks = facts.tracks.map { found in
            var track = Track()
            (track.kind, track.codec) = (found.kind, found.codec)
            return track
        }
        gaps = facts.gaps.map { found in
            var gap = Gap()
            (gap.start, gap.seconds, gap.reason) = (Double(found.start) / 1e6, Double(found.length) / 1e6, found.reason)
            return gap
        }
        keyframes = Int(facts.keyframes)
        pinned = item.isPinned
        thumbnail = item.hasThumbnail
    }
}

extension LibraryPage {
    /// Reports a page.
    package init(_ page: ItemPage) {
        self.init()
        items = page.items.map { LibraryItem($0) }
        next = page.next
    }
}
