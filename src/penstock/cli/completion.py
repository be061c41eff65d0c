"""`penstock completion`."""

import click
from click.shell_completion import get_completion_class

_HOW = {
    "bash": 'eval "$(penstock completion bash)"         in ~/.bashrc',
    "zsh": 'eval "$(penstock completion zsh)"          in ~/.zshrc',
    "fish": "penstock completion fish | source          in ~/.config/fish/config.fish",
}


@click.command(epilog="\b\nTo switch it on for good:\n" + "\n".join(f"  {line}" for line in _HOW.values()))
@click.argument("shell", type=click.Choice(list(_HOW)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands in SHELL."""
    script = get_completion_class(shell)
    if script is None:
        raise click.ClickException(f"there is no completion for {shell}")
    click.echo(script(ctx.find_root().command, {}, "penstock", "_PENSTOCK_COMPLETE").source())
