"""`pslc lab`: a page on this machine."""

from importlib.util import find_spec
from typing import Annotated

import typer

PORT = 8719


def command(
    host: Annotated[str, typer.Option(help="Address to serve on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes any free one", min=0, max=65535)] = PORT,
) -> None:
    """Open an interactive page: pick a drive, move its settings, and watch the write curve change.

    Ctrl-C ends it. The page needs the token in the printed address, and runs simulated drives only.
    """
    from pslc.base.errors import user_error

    if find_spec("dash") is None:
        raise user_error("pslc lab needs dash", "pip install 'pslc[lab]'")
    from pslc.lab import server

    if not server.is_local(host):
        typer.echo(
            f"warning: whoever can reach {host} over the network and has the address can run simulations here, read "
            "the profiles and drives in this folder, and read and delete the recordings in runs/; it is not encrypted",
            err=True,
        )
    server.serve(host, port, lambda address: print(address, flush=True), show=True)
