import ArgumentParser
import CommandSupport
import HeliographAPI
import HeliographClient
import Program

struct TemplateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "template",
        abstract: "Uploads, lists and deletes the pictures that waits compare a device's screen with.",
        discussion: """
            A template is a part of a snapshot, cut out and kept as a PNG file. `heliograph wait --template FILE.png` uploads
            one by itself; these commands are for templates that have a name and are used by others.
            """,
        subcommands: [PutTemplateCommand.self, ListTemplatesCommand.self, DeleteTemplateCommand.self]
    )
}

struct PutTemplateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Uploads a template. It replaces the one of the same name.",
        discussion: """
            Transparent pixels do not count. The relay keeps templates until it ends, at most 100 for a device.
              heliograph template put dialog.png
              heliograph wait door --until matches --template dialog --at 412,300
            """
    )

    @OptionGroup var options: RelayOptions
    @OptionGroup var format: AnswerFormat

    @Argument(help: "The PNG file, at most 1 MiB.", completion: .file(extensions: ["png"]))
    var file: String

    @Option(help: ArgumentHelp("The template's name. Default: the file's, without .png.", valueName: "name"))
    var name: String?

    func validate() throws {
        guard name?.isName != false else {
            throw ValidationError("'\(name ?? "")' is not a template's name: use \(String.nameRule).")
        }
    }

    func run() async throws {
        try await CommandError.reporting {
            let template = try TemplateFile(path: file)
            let name = name ?? template.stem
            guard name.isName else { throw CommandError.failed("the file \(file) gives no name: give one by --name") }
            try await RelayClient.with(options.address) { client in
                let device = try await client.deviceName(options.device)
                try format.show(try await template.upload(as: name, to: device, client)) { Summary.text(of: $0) }
            }
        }
    }
}

struct ListTemplatesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists a device's templates, one a line."
    )

    @OptionGroup var options: RelayOptions
    @OptionGroup var format: AnswerFormat

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                let device = try await client.deviceName(options.device)
                try format.show(try await client.answer(to: Routes.listTemplates, at: .device(device))) { list in
                    list.templates.map { Summary.text(of: $0) }.joined(separator: "\n")
                }
            }
        }
    }
}

struct DeleteTemplateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes a template, if it exists."
    )

    @OptionGroup var options: RelayOptions
    @OptionGroup var format: AnswerFormat

    @Argument(help: "The template's name.")
    var name: String

    func validate() throws {
        guard name.isName else {
            throw ValidationError("'\(name)' is not a template's name: `heliograph template list` shows them.")
        }
    }

    func run() async throws {
        try await CommandError.reporting {
            try await RelayClient.with(options.address) { client in
                let device = try await client.deviceName(options.device)
                let place = CallPlace.named(name, of: device)
                try format.show(try await client.answer(to: Routes.deleteTemplate, at: place)) { answer in
                    answer.deleted
                        ? "\(device): template \(name) deleted" : "device \(device) has no template \(name)"
                }
            }
        }
    }
}
