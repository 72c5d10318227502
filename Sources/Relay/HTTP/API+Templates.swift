import HTTPTypes
import HeliographAPI
import Hummingbird
import Media
import Program

extension API {
    func addTemplateRoutes(to routes: inout RouteTable) {
        routes.add(Routes.listTemplates) { _, _, context in try await listTemplates(context) }
        routes.add(Routes.putTemplate) { _, request, context in
            let bytes = try await Self.body(of: request, upTo: Routes.maximumTemplate)
            return try await putTemplate(Array(bytes.readableBytesView), context)
        }
        routes.add(Routes.deleteTemplate) { _, _, context in try await deleteTemplate(context) }
    }

    @MediaLoop
    private func listTemplates(_ context: RelayRequestContext) throws(Problem) -> TemplateList {
        let device = try broadcast(context.parameters.get("device")).device.name
        return TemplateList(
            switchboard.templates.all(of: device).map { TemplateReport($0.template, $0.name, of: device) }
        )
    }

    @MediaLoop
    private func putTemplate(_ bytes: [UInt8], _ context: RelayRequestContext) throws(Problem) -> TemplateReport {
        let (device, name) = try template(context)
        guard name.isName else {
            throw Problem(
                .unknownValue,
                "name is \"\(name)\"; allowed: \(String.nameRule)",
                field: "name"
            )
        }
        guard let template = Templates.Template(bytes) else {
            throw Problem(.badTemplate, "the body is not a PNG image of 1 to 8192 pixels each way")
        }
        guard switchboard.templates.put(template, as: name, of: device) else {
            throw Problem(
                .tooManyTemplates,
                "device \(device) has \(Templates.maximumCount) templates already: delete one first"
            )
        }
        return TemplateReport(template, name, of: device)
    }

    @MediaLoop
    private func deleteTemplate(_ context: RelayRequestContext) throws(Problem) -> DeletedTemplate {
        let (device, name) = try template(context)
        var report = DeletedTemplate()
        report.deleted = switchboard.templates.remove(name, of: device)
        return report
    }

    /// Returns the device and the name in the path.
    @MediaLoop
    private func template(_ context: RelayRequestContext) throws(Problem) -> (device: String, name: String) {
        let device = try broadcast(context.parameters.get("device")).device.name
        context.audit.note("device", device)
        return (device, context.parameters.get("name") ?? "")
    }
}

extension TemplateReport {
    fileprivate init(_ template: Templates.Template, _ name: String, of device: String) {
        self.init()
        self.device = device
        self.name = name
        width = template.size.width
        height = template.size.height
        bytes = template.bytes.count
    }
}
