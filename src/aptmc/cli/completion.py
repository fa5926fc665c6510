"""`aptmc completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

import argparse
from argparse import ArgumentParser, Namespace
from typing import Any

from aptmc.cli.command import GOOD, Command

WORDS = """\
Prints a script by which a shell completes commands, options and their values.

examples:
  eval "$(aptmc completion bash)"               in ~/.bashrc
  eval "$(aptmc completion zsh)"                in ~/.zshrc, after compinit
  aptmc completion fish > ~/.config/fish/completions/aptmc.fish
"""
SHELLS = ("bash", "zsh", "fish")

_BASH = """\
_aptmc() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands}"
    else
        case "${{COMP_WORDS[1]}} $before" in
{values}
        *) case "${{COMP_WORDS[1]}}" in
{options}
            esac ;;
        esac
        case "$word" in -*) ;; *) case "$words" in -*) words="" ;; esac ;; esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _aptmc aptmc"""


def add_options(parser: ArgumentParser) -> None:
    """Which shell."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that is to complete")


def completion(options: Namespace) -> int:
    """Print the script."""
    print(script(options.shell))
    return GOOD


def script(shell: str) -> str:
    """What a shell is to read, from the options that there are now."""
    commands = _commands()
    if shell == "fish":
        return "\n".join(_fish(commands))
    options, values = [], []
    for name, parser in commands.items():
        known = [one for action in parser._actions for one in action.option_strings]
        options.append(f'            {name}) words="{" ".join(known)}" ;;')
        for action in parser._actions:
            for option in action.option_strings if action.choices else ():
                said = " ".join(map(str, action.choices or ()))
                values.append(f'        "{name} {option}") words="{said}" ;;')
            if action.choices and not action.option_strings:
                said = " ".join(map(str, action.choices))
                values.append(f'        "{name} {name}") words="{said}" ;;')
    bash = _BASH.format(
        commands=" ".join(commands), options="\n".join(options), values="\n".join(values)
    )
    if shell == "bash":
        return bash
    return f"autoload -U +X bashcompinit && bashcompinit\n{bash}"


def _fish(commands: dict[str, ArgumentParser]) -> list[str]:
    lines = []
    for name, parser in commands.items():
        first, here = "__fish_use_subcommand", f"'__fish_seen_subcommand_from {name}'"
        lines.append(f"complete -c aptmc -n {first} -f -a {name}")
        for action in parser._actions:
            said = f" -xa '{' '.join(map(str, action.choices))}'" if action.choices else ""
            longs = [one[2:] for one in action.option_strings if one.startswith("--")]
            lines += [f"complete -c aptmc -n {here} -l {one}{said}" for one in longs]
            if said and not longs:
                lines.append(f"complete -c aptmc -n {here}{said}")
    return lines


def _commands() -> dict[str, ArgumentParser]:
    from aptmc.cli.main import make_parser  # which knows this command, too

    for action in make_parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            found: dict[str, Any] = dict(action.choices)
            return found
    return {}


COMMAND = Command(
    "completion", "have a shell complete commands and options", WORDS, add_options, completion
)
