import CLibAV
import CaptureAgent
import Media
import Testing

/// Tests of those parts of the import that run without a device.
@Suite("The import of DMA-BUFs")
struct DMABufImporterTests {
    @Test("names filters that libavfilter has, with options that they take", arguments: ["hwmap", "scale_vaapi"])
    func filters(name: String) throws {
        var functions = clibav_filter_functions()
        let failure = clibav_load_filters(&functions).map { String(cString: $0) }
        try #require(failure == nil)
        var graph = functions.avfilter_graph_alloc()
        defer { functions.avfilter_graph_free(&graph) }
        let kind = try #require(functions.avfilter_get_by_name(name))
        let filter = try #require(functions.avfilter_graph_alloc_filter(graph, kind, name))
        let size = PictureSize(width: 1280, height: 720)
        let options = name == "hwmap" ? DMABufImporter.mapping : DMABufImporter.scaling(to: size)
        #expect(functions.avfilter_init_str(filter, options) == 0)
    }
}
