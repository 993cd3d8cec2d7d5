"""Writes the completions of bash, zsh and fish: generate.py DWELL FOLDER.

The commands and options come from the program itself (--print-commands, --print-options).
"""
import os
import re
import subprocess
import sys

FORMATS = {"FORMAT": ["text", "csv", "json"]}
ACTIONS = {"control": ["pause", "resume", "stop", "dump", "event", "level"]}
RUNS_PROGRAM = ["record", "cc", "c++"]


def lines_of(program, *arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def first_clause(text):
    """What fits into a menu."""
    return re.split(r"[:;(]| \d|, (?=such|unless)", text)[0].strip() or text


class Option:
    def __init__(self, line):
        self.name, self.letter, argument, help_text, *_ = line.split("\t")
        self.has_argument = argument != "-" and not argument.startswith("[=")
        self.kind = argument if self.has_argument else ""
        self.help = first_clause(help_text)
        self.words = FORMATS.get(argument, [])

    def spellings(self):
        return [self.name] if self.letter == "-" else [self.letter, self.name]


class Command:
    def __init__(self, program, line):
        self.name, self.does = line.split("\t")
        self.options = [Option(option) for option in lines_of(program, self.name, "--print-options")]
        self.words = ACTIONS.get(self.name, [])
        if any(option.name == "--list" for option in self.options):
            self.words = [word.split()[0] for word in lines_of(program, self.name, "--list")]


def bash(commands):
    text = '''# Completion of dwell for bash. Generated; do not edit.
_dwell()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options="" files="" formats="" words="" i
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "%s help --help --version" -- "$word")
        return
    fi
    case ${COMP_WORDS[1]} in
''' % " ".join(command.name for command in commands)
    for command in commands:
        files = [s for option in command.options if option.kind in ("FILE", "SESSION") for s in option.spellings()]
        formats = [s for option in command.options if option.words for s in option.spellings()]
        others = [s for option in command.options if option.has_argument for s in option.spellings()
                  if s not in files + formats]
        text += f"    {command.name})\n"
        text += f'        options="{" ".join(s for option in command.options for s in option.spellings())}"\n'
        text += f'        files=" {" ".join(files)} " formats=" {" ".join(formats)} " others=" {" ".join(others)} "\n'
        text += f'        words="{" ".join(command.words)}"\n'
        text += "        ;;\n"
    text += f'''    help)
        words="{" ".join(command.name for command in commands)}"
        ;;
    esac
    case ${{COMP_WORDS[1]}} in
    {"|".join(RUNS_PROGRAM)}) # the words of another program
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${{COMP_WORDS[i]}} in
            -*) ;;
            *) case " $others$files$formats " in
                *" ${{COMP_WORDS[i - 1]}} "*) ;;
                *) compopt -o default 2>/dev/null; return ;;
                esac ;;
            esac
        done ;;
    esac
    case "$files" in *" $before "*)
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    esac
    case "$formats" in *" $before "*)
        mapfile -t COMPREPLY < <(compgen -W "{" ".join(FORMATS["FORMAT"])}" -- "$word"); return ;;
    esac
    case "$others" in *" $before "*) return ;; esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *)
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; compgen -f -- "$word")
        compopt -o filenames 2>/dev/null ;;
    esac
}}
complete -F _dwell dwell
'''
    return text.replace('formats="" words="" i', 'formats="" others="" words="" i')


def zsh_quoted(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_option(option):
    spellings = option.spellings()
    argument = ""
    if option.has_argument:
        action = "(" + " ".join(option.words) + ")" if option.words else "_files" if option.kind in ("FILE", "SESSION") else " "
        argument = f":{zsh_quoted(option.kind)}:{action}"
    return [f"'*{s}{'=' if option.has_argument and s.startswith('--') else ''}[{zsh_quoted(option.help)}]{argument}'"
            for s in spellings]


def zsh(commands):
    text = "#compdef dwell\n# Completion of dwell for zsh. Generated; do not edit.\n_dwell() {\n    local -a commands\n    commands=(\n"
    text += "".join(f"        '{zsh_quoted(c.name)}:{zsh_quoted(c.does)}'\n" for c in commands)
    text += '''    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local name=$words[2]
    shift words
    (( CURRENT-- ))
    case $name in
'''
    for command in commands:
        rest = ("'*::program:_normal'" if command.name in RUNS_PROGRAM else
                f"'*:argument:_alternative \"words:word:({' '.join(command.words)})\" \"files:file:_files\"'" if command.words
                else "'*:file:_files'")
        text += f"    {command.name})\n        _arguments -S \\\n"
        text += "".join(f"            {line} \\\n" for option in command.options for line in zsh_option(option))
        text += f"            {rest} ;;\n"
    return text + "    help) _describe command commands ;;\n    esac\n}\n_dwell \"$@\"\n"


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish(commands):
    text = "# Completion of dwell for fish. Generated; do not edit.\ncomplete -c dwell -n __fish_use_subcommand -f\n"
    for command in commands:
        text += f"complete -c dwell -n __fish_use_subcommand -a {command.name} -d {fish_quoted(command.does)}\n"
    for command in commands:
        when = f"complete -c dwell -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            line = f"{when} -l {option.name[2:]}"
            line += f" -s {option.letter[1:]}" if option.letter != "-" else ""
            line += " -r" if option.has_argument else ""
            line += f" -f -a {fish_quoted(' '.join(option.words))}" if option.words else ""
            text += f"{line} -d {fish_quoted(option.help)}\n"
        if command.words:
            text += f"{when} -a {fish_quoted(' '.join(command.words))}\n"
    return text


def main():
    program, folder = sys.argv[1:]
    commands = [Command(program, line) for line in lines_of(program, "--print-commands")]
    for name, text in ("dwell", bash(commands)), ("_dwell", zsh(commands)), ("dwell.fish", fish(commands)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


main()
