"""The man page and the shell completions of a program, made from what its --help says."""

import re
import subprocess
from pathlib import Path


def help_of(program: Path, *words: str) -> str:
    return subprocess.run([str(program), *words, "--help"], check=True, capture_output=True, text=True).stdout


def commands(program: Path) -> list[tuple[str, str]]:
    part = help_of(program).split("Commands", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^  ([a-z]+) +(\S.*)$", part, re.M)


def flags(text: str) -> list[str]:
    return sorted(set(re.findall(r"--[a-z][a-z0-9_-]*", text)))


def roff(text: str) -> str:
    return re.sub(r"(?m)^([.'])", r"\\&\1", text.replace("\\", "\\e").replace("-", "\\-"))


def man_page(program: Path, version: str, date: str) -> str:
    """sonde.1: the help of the program and of every command, as they are printed."""
    parts = [f'.TH SONDE 1 "{date}" "Sonde {version}" "User Commands"', ".SH NAME", "sonde \\- training logs and profiles in the browser",
             ".SH SYNOPSIS", ".B sonde", "\\fILOGDIR\\fR [\\fIflags\\fR]", ".br", ".B sonde", "\\fICOMMAND\\fR ...", ".SH DESCRIPTION",
             ".nf", roff(help_of(program)).rstrip(), ".fi"]
    for name, _ in commands(program):
        if name not in ("serve", "version"):
            parts += [f".SH SONDE {name.upper()}", ".nf", roff(help_of(program, name)).rstrip(), ".fi"]
    return "\n".join(parts) + "\n"


def bash_completion(program: Path) -> str:
    names = " ".join(name for name, _ in commands(program))
    cases = "".join(f"    {name}) words=\"{' '.join(flags(help_of(program, name)))}\" ;;\n" for name, _ in commands(program) if name not in ("version",))
    return f"""# bash completion of sonde
_sonde() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=""
  case ${{COMP_WORDS[1]}} in
{cases}    *) words="{' '.join(flags(help_of(program)))}" ;;
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    if [[ $COMP_CWORD == 1 ]]; then mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -W "{names}" -- "$word"); fi
  fi
}}
complete -o filenames -F _sonde sonde
"""


def zsh_completion(program: Path) -> str:
    names = " ".join(f"'{name}:{text.replace(chr(39), '')}'" for name, text in commands(program))
    return f"""#compdef sonde
local -a names flags
names=({names})
flags=({' '.join(flags(help_of(program)))})
if (( CURRENT == 2 )); then _describe 'command' names; fi
if [[ $words[CURRENT] == -* ]]; then compadd -- $flags; else _files; fi
"""


def fish_completion(program: Path) -> str:
    lines = [f"complete -c sonde -n __fish_use_subcommand -a {name} -d '{text.replace(chr(39), '')}'" for name, text in commands(program)]
    lines += [f"complete -c sonde -l {flag[2:]}" for flag in flags(help_of(program))]
    return "\n".join(lines) + "\n"
