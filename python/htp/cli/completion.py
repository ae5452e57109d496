"""The command `htp completion`: prints shell completion scripts."""

from __future__ import annotations

import argparse
from typing import Any

from .commands import Commands
from .console import Console

COMPLETION = """\
Print a script that completes commands and options in a shell

examples:
  source <(htp completion bash)                                       in ~/.bashrc
  htp completion zsh > "${fpath[1]}/_htp"
  htp completion fish > ~/.config/fish/completions/htp.fish
"""
_BASH = """\
# Completion of htp for bash, written by 'htp completion bash'.
_htp() {
  local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="@COMMANDS@"
  elif [[ $word == -* ]]; then
    case $command in
@CASES@
    esac
  else
    COMPREPLY=($(compgen -f -- "$word"))
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o filenames -F _htp htp
"""


def register(commands: Commands) -> None:
    parser = commands.add("completion", COMPLETION, run_completion)
    parser.add_argument("shell", choices=["bash", "zsh", "fish"])


def run_completion(options: argparse.Namespace, console: Console) -> int:
    from . import build_parser

    console.text(_SHELLS[options.shell](_commands(build_parser())).rstrip())
    return 0


def _commands(parser: argparse.ArgumentParser) -> dict[str, tuple[str, list[Any]]]:
    """Each command with its summary and its options."""
    found = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, command in action.choices.items():
                flags = [a for a in command._actions if a.option_strings]
                found[name] = (helps[name], flags)
    return found


def _flags(options: list[Any]) -> list[str]:
    return [flag for option in options for flag in option.option_strings]


def _bash(commands: dict[str, tuple[str, list[Any]]]) -> str:
    cases = [f'      {name}) words="{" ".join(_flags(o))}" ;;' for name, (_, o) in commands.items()]
    names = " ".join([*commands, "--help", "--version"])
    return _BASH.replace("@COMMANDS@", names).replace("@CASES@", "\n".join(cases))


def _zsh(commands: dict[str, tuple[str, list[Any]]]) -> str:
    names = "\n".join(f"    {_quoted(f'{name}:{text}')}" for name, (text, _) in commands.items())
    cases = "\n".join(
        f"    {name}) _arguments {' '.join(_zsh_option(o) for o in options)} '*:file:_files' ;;"
        for name, (_, options) in commands.items()
    )
    return f"""\
#compdef htp
# Completion of htp for zsh, written by 'htp completion zsh'.
_htp() {{
  local -a commands=(
{names}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
{cases}
  esac
}}
_htp "$@"
"""


def _zsh_option(option: Any) -> str:
    text = (option.help or "").replace("[", "(").replace("]", ")").replace("%(default)s", "")
    value = "" if option.nargs == 0 else ":value:_files"
    return " ".join(_quoted(f"{flag}[{text}]{value}") for flag in option.option_strings)


def _fish(commands: dict[str, tuple[str, list[Any]]]) -> str:
    lines = ["# Completion of htp for fish, written by 'htp completion fish'."]
    for name, (text, options) in commands.items():
        lines.append(f"complete -c htp -n __fish_use_subcommand -f -a {name} -d {_quoted(text)}")
        for option in options:
            flags = " ".join(
                f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}"
                for flag in option.option_strings
            )
            text = (option.help or "").replace("%(default)s", "")
            lines.append(
                f"complete -c htp -n '__fish_seen_subcommand_from {name}' {flags} -d {_quoted(text)}"
            )
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
