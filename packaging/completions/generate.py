"""Writes the completions of bash, zsh and fish: generate.py DWELL FOLDER.

The commands and options come from the program itself (--print-commands, --print-options).
"""
import os
import re
import subprocess
import sys

ACTIONS = {"control": ["pause", "resume", "stop", "dump", "event", "level", "keep", "values"]}
RUNS_PROGRAM = ["record", "cc", "c++"]
OTHER_COMMANDS = [("help", "describe a command"), ("version", "say which version this is")]
LISTS = "KEYS"  # an argument of several words with commas between them


def lines_of(program, *arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()


def first_clause(text):
    """What fits into a menu."""
    return re.split(r"[:;(]| \d|, (?=such|unless)", text)[0].strip() or text


class Option:
    def __init__(self, line):
        self.name, self.letter, argument, help_text, _, words = line.split("\t")
        self.has_argument = argument != "-" and not argument.startswith("[=")
        self.kind = argument if self.has_argument else ""
        self.help = first_clause(help_text)
        self.words = words.split() if words != "-" else []

    def spellings(self):
        return [self.name] if self.letter == "-" else [self.letter, self.name]


class Command:
    def __init__(self, program, line):
        self.name, self.does = line.split("\t")
        self.options = [Option(option) for option in lines_of(program, self.name, "--print-options")]
        self.words = ACTIONS.get(self.name, [])
        self.takes_function = bool(re.search(r"\bFUNCTION\b", lines_of(program, self.name, "--help")[0]))
        names = [option.name for option in self.options]
        if any(option.name == "--list" and not option.has_argument for option in self.options):
            self.words = [word.split()[0] for word in lines_of(program, self.name, "--list")]
        if "--columns" in names and self.name != "fleet":
            self.find_columns(lines_of(program, self.name, "--columns", "help"))

    def find_columns(self, lines):
        """The keys, alone and with each suffix if there are any; --sort takes those without."""
        blank = lines.index("") if "" in lines else len(lines)
        keys = [key for line in lines[:blank] for key in line.split("  ")[0].split(", ")]
        has_suffixes = any("The suffixes are:" in line for line in lines[blank:])
        suffixes = [word for line in lines[blank:] for word in re.findall(r"_\w+", line[:30]) if has_suffixes]
        for option in self.options:
            if option.name == "--columns":
                option.words = [key + suffix for key in keys for suffix in ["", *suffixes]] + ["help"]
            elif option.name == "--sort":
                option.words = keys + ([] if "name" in keys else ["name"])


def bash_case(command):
    """What the word before the one that is typed wants."""
    for option in command.options:
        pattern = "|".join(option.spellings())
        if option.words:
            yield f'        {pattern}) values="{" ".join(option.words)}"{" list=yes" if option.kind == LISTS else ""} ;;\n'
        elif option.kind == "FUNCTION":
            yield f"        {pattern}) functions=yes ;;\n"
        elif option.kind in ("FILE", "SESSION"):
            yield f"        {pattern}) files=yes ;;\n"
        elif option.has_argument:
            yield f"        {pattern}) others=yes ;;\n"


def bash(commands):
    names = " ".join(command.name for command in commands)
    text = f"""# Completion of dwell for bash. Generated; do not edit.
# The functions of the session that the line names, else of dwell.data, and those alone whose names begin with the word.
_dwell_functions()
{{
    local word=$1 session="" name
    for name in "${{COMP_WORDS[@]:2}}"; do
        case $name in *.data|*.dwell) session=$name ;; esac
    done
    while IFS= read -r name; do
        printf -v name %q "$name"
        case $COMP_WORDBREAKS in *:*) name=${{name#"${{word%"${{word##*:}}"}}"}} ;; esac # bash replaces what follows the colon
        COMPREPLY+=("$name")
    done < <("${{COMP_WORDS[0]}}" complete functions "$session" "$word" 2>/dev/null)
}}
_dwell()
{{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} options="" words="" values="" list="" files="" functions=""
    local others="" takes_function="" with_argument="" i line=${{COMP_LINE:0:COMP_POINT}}
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "{names} help version --help --version" -- "$word")
        return
    fi
    case $word,$before in # --option=value, split by bash
    =,*) word="" ;;
    *,=) before=${{COMP_WORDS[COMP_CWORD - 2]}} ;;
    esac
    for ((i = COMP_CWORD; i > 2; i--)); do # likewise at colons
        case ${{COMP_WORDS[i]}}${{COMP_WORDS[i - 1]}} in :*|*:) before=${{COMP_WORDS[i - 2]}} word=${{line##* }} ;; *) break ;; esac
    done
    case ${{COMP_WORDS[1]}} in
"""
    for command in commands:
        with_argument = " ".join(s for option in command.options if option.has_argument for s in option.spellings())
        text += f"    {command.name})\n"
        text += f'        options="{" ".join(s for option in command.options for s in option.spellings())}"\n'
        text += f'        words="{" ".join(command.words)}"\n' if command.words else ""
        text += "        takes_function=yes\n" if command.takes_function else ""
        text += f'        with_argument=" {with_argument} "\n' if command.name in RUNS_PROGRAM else ""
        text += "        case $before in\n" + "".join(bash_case(command)) + "        esac ;;\n"
    text += f"""    help) words="{names}" ;;
    esac
    case ${{COMP_WORDS[1]}} in
    {"|".join(RUNS_PROGRAM)}) # the words of another program
        for ((i = 2; i < COMP_CWORD; i++)); do
            case ${{COMP_WORDS[i]}} in
            -*) ;;
            *) case "$with_argument" in
                *" ${{COMP_WORDS[i - 1]}} "*) ;;
                *) compopt -o default 2>/dev/null; return ;;
                esac ;;
            esac
        done ;;
    esac
    if [ "$list" ]; then # the words before the last comma stay
        local earlier=""
        case $word in *,*) earlier=${{word%,*}}, ;; esac
        mapfile -t COMPREPLY < <(compgen -P "$earlier" -W "$values" -- "${{word##*,}}")
        compopt -o nospace 2>/dev/null
    elif [ "$values" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
    elif [ "$functions" ]; then
        _dwell_functions "$word"
    elif [ "$files" ]; then
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    elif [ ! "$others" ]; then
        case $word in
        -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
        *)
            mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; compgen -f -- "$word")
            if [ "$takes_function" ]; then
                _dwell_functions "$word"
            else
                compopt -o filenames 2>/dev/null
            fi ;;
        esac
    fi
}}
complete -F _dwell dwell
"""
    return text


def zsh_quoted(text):
    return re.sub(r"([\[\]:\\])", r"\\\1", text).replace("'", "'\\''")


def zsh_action(option):
    if option.words and option.kind == LISTS:
        return f" _values -s , column {' '.join(option.words)}"
    if option.words:
        return f"({' '.join(option.words)})"
    return {"FILE": "_files", "SESSION": "_files", "FUNCTION": "_dwell_functions"}.get(option.kind, " ")


def zsh_option(option):
    argument = f":{zsh_quoted(option.kind)}:{zsh_action(option)}" if option.has_argument else ""
    return [f"'*{s}{'=' if option.has_argument and s.startswith('--') else ''}[{zsh_quoted(option.help)}]{argument}'"
            for s in option.spellings()]


def zsh_rest(command):
    if command.name in RUNS_PROGRAM:
        return "'*::program:_normal'"
    if command.takes_function:
        return "'*:function or file: _alternative \"functions:function:_dwell_functions\" \"files:file:_files\"'"
    if command.words:
        return f"'*:argument: _alternative \"words:word:({' '.join(command.words)})\" \"files:file:_files\"'"
    return "'*:file:_files'"


def zsh(commands):
    text = """#compdef dwell
# Completion of dwell for zsh. Generated; do not edit.
# The functions of the session that the line names, else of dwell.data.
_dwell_functions() {
    local -a functions
    functions=("${(@f)$(dwell complete functions "${words[(R)*.(data|dwell)]}" "${(Q)PREFIX}" 2>/dev/null)}")
    compadd -a functions
}
_dwell() {
    local -a commands
    commands=(
"""
    text += "".join(f"        '{zsh_quoted(c.name)}:{zsh_quoted(c.does)}'\n" for c in commands)
    text += "".join(f"        '{name}:{does}'\n" for name, does in OTHER_COMMANDS)
    text += """    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local name=$words[2]
    shift words
    (( CURRENT-- ))
    case $name in
"""
    for command in commands:
        text += f"    {command.name})\n        _arguments -S \\\n"
        text += "".join(f"            {line} \\\n" for option in command.options for line in zsh_option(option))
        text += f"            {zsh_rest(command)} ;;\n"
    return text + "    help) _describe command commands ;;\n    esac\n}\n_dwell \"$@\"\n"


def fish_quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_words(option):
    """What the option's argument can be, as an argument of complete."""
    if option.words and option.kind == LISTS:
        return f" -f -a '(__dwell_list {' '.join(option.words)})'"
    if option.words:
        return f" -f -a {fish_quoted(' '.join(option.words))}"
    return " -f -a '(__dwell_functions)'" if option.kind == "FUNCTION" else ""


def fish(commands):
    text = """# Completion of dwell for fish. Generated; do not edit.
# The functions of the session that the line names, else of dwell.data.
function __dwell_functions
    set -l session (string match -r '\\\\S+\\\\.(?:data|dwell)(?=\\\\s|$)' -- (commandline -p))
    dwell complete functions "$session[-1]" (commandline -ct | string unescape) 2>/dev/null
end
# One more of some words, after those with commas between them that are there already.
function __dwell_list
    set -l earlier (string match -r '^.*,' -- (commandline -ct))
    printf '%s\\\\n' "$earlier"$argv
end
complete -c dwell -n __fish_use_subcommand -f
""".replace("\\\\", "\\")
    for command in commands:
        text += f"complete -c dwell -n __fish_use_subcommand -a {command.name} -d {fish_quoted(command.does)}\n"
    for name, does in OTHER_COMMANDS:
        text += f"complete -c dwell -n __fish_use_subcommand -f -a {name} -d {fish_quoted(does)}\n"
    for command in commands:
        when = f"complete -c dwell -n '__fish_seen_subcommand_from {command.name}'"
        for option in command.options:
            line = f"{when} -l {option.name[2:]}"
            line += f" -s {option.letter[1:]}" if option.letter != "-" else ""
            line += " -r" if option.has_argument else ""
            text += f"{line}{fish_words(option)} -d {fish_quoted(option.help)}\n"
        if command.words:
            text += f"{when} -a {fish_quoted(' '.join(command.words))}\n"
        if command.takes_function:
            text += f"{when} -a '(__dwell_functions)' -d function\n"
    return text


def main():
    program, folder = sys.argv[1:]
    commands = [Command(program, line) for line in lines_of(program, "--print-commands")]
    for name, text in ("dwell", bash(commands)), ("_dwell", zsh(commands)), ("dwell.fish", fish(commands)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


main()
