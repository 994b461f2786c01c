"""`pslc lab`: a page on this machine."""

from importlib.util import find_spec
from typing import Annotated

import typer

PORT = 8719


def command(
    host: Annotated[str, typer.Option(help="Address to serve on; only this machine by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes any that is free.", min=0, max=65535)] = PORT,
) -> None:
    """Open a page where drives are chosen, their knobs are sliders, and the curve answers.

    It ends with Ctrl-C. The address on stdout holds a token, without which nothing is shown; simulated drives only.
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
