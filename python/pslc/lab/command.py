"""`pslc lab`: a page on this machine."""

from pathlib import Path
from typing import Annotated

import typer

PORT = 8719


def command(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on; the default is this machine only")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", help="Port; 0 picks a free one", min=0, max=65535)] = PORT,
    save: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Save a page that needs no server to this folder, as index.html, and end"),
    ] = None,
) -> None:
    """Open an interactive page: pick a simulated drive, move its settings, and watch the write curve change.

    Ctrl-C ends it. The address on stdout contains a token that the page requires.
    """
    from pslc.lab import static_page

    if save is not None:
        print(static_page.write(save))
        return
    from pslc.base import http_server
    from pslc.lab import server

    if not static_page.PAGE.is_file():
        typer.echo("warning: there is no page in this install, only the JSON behind it: make web builds it", err=True)
    if not http_server.is_local(host):
        typer.echo(
            f"warning: anyone who can reach {host} and has the address can run simulations here, read the profiles and "
            "drives in this folder, and read and delete the recordings in runs/; the connection is not encrypted",
            err=True,
        )
    server.serve(host, port, lambda address: print(address, flush=True), show=True)
