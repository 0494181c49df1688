"""Drives dc0's language server with pygls, an independent implementation of the Language Server Protocol, as an editor would.

    python lsp_client.py PROGRAM

PROGRAM is `dc0-run`. pygls reads every answer into the types of lsprotocol, which are generated from the protocol's metamodel, and
complains about what does not fit. Opens the shipped experiments, breaks one, makes requests, fixes it. Prints a summary line; exits
with 1 if anything was wrong.
"""

import asyncio
import sys
from pathlib import Path

from lsprotocol import types
from pygls.lsp.client import LanguageClient

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"
COMPLAINTS = []
PATIENCE = 120


class Client(LanguageClient):
    """A client that keeps the diagnostics of each file."""

    def __init__(self):
        super().__init__("dc0-tests", "1")
        self.arrived = asyncio.Condition()
        self.diagnostics = {}

        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def keep(params):
            async with self.arrived:
                self.diagnostics[(params.uri, params.version)] = params.diagnostics
                self.arrived.notify_all()

        @self.feature(types.WINDOW_LOG_MESSAGE)
        def complain(params):
            COMPLAINTS.append(f"the server logs: {params.message}")

    def report_server_error(self, error, source):
        COMPLAINTS.append(f"pygls: {error}")

    async def checked(self, uri, version):
        """The diagnostics of a version of a file, once they have arrived."""
        async with self.arrived:
            there = self.arrived.wait_for(lambda: (uri, version) in self.diagnostics)
            await asyncio.wait_for(there, PATIENCE)
            return self.diagnostics[(uri, version)]


def expect(what, holds):
    if not holds:
        COMPLAINTS.append(what)


def position_after(text, mark):
    """The position after the first `mark` in a text, in UTF-16 units."""
    before = text[: text.index(mark) + len(mark)]
    line = before.rsplit("\n", 1)[-1]
    return types.Position(line=before.count("\n"), character=len(line.encode("utf-16-le")) // 2)


def span(text, mark):
    end = position_after(text, mark)
    units = len(mark.encode("utf-16-le")) // 2
    return types.Range(start=types.Position(line=end.line, character=end.character - units), end=end)


def open_text(client, uri, text):
    document = types.TextDocumentItem(uri=uri, language_id="rhai", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(text_document=document))


def change(client, uri, version, text):
    """Replaces the whole text."""
    edit = types.TextDocumentContentChangeWholeDocument(text=text)
    document = types.VersionedTextDocumentIdentifier(uri=uri, version=version)
    client.text_document_did_change(types.DidChangeTextDocumentParams(text_document=document, content_changes=[edit]))


async def open_experiments(client):
    """Opens every shipped script; none has a problem. An engine from outside need not be installed."""
    scripts = sorted(EXPERIMENTS.rglob("*.rhai"))
    for script in scripts:
        uri = script.as_uri()
        open_text(client, uri, script.read_text(encoding="utf-8"))
        found = await client.checked(uri, 1)
        found = [one for one in found if not one.message.startswith("there is no program ")]
        expect(f"{script.name}: {found}", not found)
        client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
    return len(scripts)


async def break_and_fix(client):
    """A misspelt parameter is marked at its position, explained, and fixed by the code action."""
    script = EXPERIMENTS / "smoke.rhai"
    text = script.read_text(encoding="utf-8")
    uri = (EXPERIMENTS / "a copy of it.rhai").as_uri()
    open_text(client, uri, text)
    expect("the copy has problems", not await client.checked(uri, 1))
    broken = text.replace("shard_games", "shard_game", 1)
    change(client, uri, 2, broken)
    found = await client.checked(uri, 2)
    marked = [problem.range for problem in found]
    expect(f"shard_game is not marked: {found}", marked == [span(broken, "shard_game")])
    expect(f"no suggestion: {found}", "did you mean `shard_games`?" in found[0].message)
    wanted = types.CodeActionParams(
        text_document=types.TextDocumentIdentifier(uri), range=marked[0], context=types.CodeActionContext(diagnostics=found)
    )
    actions = await client.text_document_code_action_async(wanted)
    edits = actions[0].edit.changes[uri]
    expect(f"another correction: {edits}", [edit.new_text for edit in edits] == ["shard_games"])
    expect(f"another place: {edits}", edits[0].range == marked[0])
    change(client, uri, 3, text)
    expect("the fixed copy has problems", not await client.checked(uri, 3))
    return uri, text


def at(kind, uri, position):
    return kind(text_document=types.TextDocumentIdentifier(uri), position=position)


async def check_requests(client, uri, text):
    """Completion, hover, signature, definition and outline of the fixed copy."""
    items = await client.text_document_completion_async(at(types.CompletionParams, uri, position_after(text, "run.")))
    labels = {item.label for item in items}
    expect(f"no self_play in {labels}", {"self_play", "train", "generation"} <= labels)
    items = await client.text_document_completion_async(at(types.CompletionParams, uri, position_after(text, "self_play(best, #{")))
    keys = {item.label: item for item in items}
    expect(f"no opening_plies in {set(keys)}", "opening_plies" in keys and "games" not in keys)
    edit = keys["opening_plies"].text_edit
    expect(f"no snippet: {edit}", edit is not None and edit.new_text.startswith("opening_plies: ${1:"))
    hover = await client.text_document_hover_async(at(types.HoverParams, uri, position_after(text, "temperat")))
    expect(f"no meaning of temperature: {hover}", hover is not None and "`self_play`" in hover.contents.value)
    called = at(types.SignatureHelpParams, uri, position_after(text, "run.train(best, "))
    signature = await client.text_document_signature_help_async(called)
    expect(f"another argument: {signature}", signature is not None and signature.active_parameter == 1)
    definition = at(types.DefinitionParams, uri, position_after(text, "verdict.score >= 0.5) { best"[:7]))
    found = await client.text_document_definition_async(definition)
    expect(f"no definition: {found}", found is not None and found.uri == uri)
    outline = await client.text_document_document_symbol_async(
        types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
    )
    names = [symbol.name for symbol in outline]
    expect(f"another outline: {names}", names[:4] == ["p", "run", "best", "search"])


async def main(program):
    client = Client()
    await client.start_io(program, "lsp")
    completion = types.CompletionClientCapabilities(completion_item=types.ClientCompletionItemOptions(snippet_support=True))
    capabilities = types.ClientCapabilities(
        text_document=types.TextDocumentClientCapabilities(completion=completion)
    )
    folder = types.WorkspaceFolder(uri=EXPERIMENTS.parent.as_uri(), name="dc0")
    params = types.InitializeParams(capabilities=capabilities, workspace_folders=[folder])
    answer = await client.initialize_async(params)
    expect("no name", answer.server_info is not None and answer.server_info.name == "dc0-run")
    client.initialized(types.InitializedParams())
    scripts = await open_experiments(client)
    uri, text = await break_and_fix(client)
    await check_requests(client, uri, text)
    await client.shutdown_async(None)
    client.exit(None)
    code = await asyncio.wait_for(client._server.wait(), PATIENCE)
    expect(f"exit code {code}", code == 0)
    await client.stop()
    for complaint in COMPLAINTS:
        print(complaint, file=sys.stderr)
    print(f"{scripts} scripts without a problem, 1 broken and fixed; {len(COMPLAINTS)} complaints")
    return 1 if COMPLAINTS else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[1])))
