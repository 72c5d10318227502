import Library
import TestSupport
import Testing

@Suite("What a transaction of the catalogue is about")
struct ItemCommitTests {
    @Test("each item is named once, by what is left of all that was done to it")
    func once() {
        var commit = ItemCommit()
        commit.add(1)
        commit.change(1)
        commit.change(2)
        commit.remove(2)
        commit.add(3)
        commit.remove(3)
        commit.remove(4)
        commit.add(4)
        #expect(commit.added == [1] && commit.changed == [4] && commit.removed == [2] && !commit.isCut)
        var later = ItemCommit()
        later.remove(1)
        later.change(5)
        commit.formUnion(later)
        #expect(commit.added == [] && commit.changed == [4, 5] && commit.removed == [2])
    }

    @Test("more items than it names are told")
    func cut() {
        var commit = ItemCommit()
        for id in 0..<Int64(ItemCommit.most) { commit.add(id) }
        commit.change(5)
        #expect(!commit.isCut)
        commit.remove(-1)
        #expect(commit.isCut && commit.added.count == ItemCommit.most && commit.removed.isEmpty && !commit.isEmpty)
    }
}
