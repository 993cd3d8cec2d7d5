"""Makes the man pages: pages.py SCDOC MAIN_C,FEATURE_C... COMMAND,... DWELL_SCD FOLDER DWELL HEADER...

dwell.scd describes all commands in one text. This program makes dwell(1) of what they share, dwell-COMMAND(1) of each
command's synopsis and text, and dwell_HEADER(3) of each public header's comments and declarations. The options and the
examples of a command come from the program itself, as those of its --help. DWELL is - where it cannot run: then pages
refer to --help.
"""
import os
import re
import subprocess
import sys

# Sections of dwell.scd that describe one command.
OWN_SECTIONS = {"export": "EXPORT FORMATS", "import": "IMPORT FORMATS"}

# Commands that have to do with each other.
NEIGHBOURS = [
    "record control cc c++ doctor report", "report tree callers annotate waits view", "waits critical whatif why",
    "histogram slowest replay why", "marks events replay", "diff compare fleet", "profile merge fleet export import",
    "advise record annotate info", "doctor info", "values record callers", "top control report", "view top", "perflog marks diff",
    "mcp record report"]

EXITS = {
    "record": "As the program, with its exit status or by its signal. 127: it was not found; 126: it cannot be executed; "
              "125: dwell failed before it started.",
    "compare": "As *dwell-diff*(1), unless a program failed: then as that one. 127: a program was not found; 126: it "
               "cannot be executed; 125: dwell failed before it started.",
    "cc": "That of the compiler. 127: it was not found; 126: it cannot be executed; 125: an option of dwell is wrong; 2: "
          "there is no command of a compiler.",
    "doctor": "0; 1 if anything is bad; 2 for bad usage.",
    "diff": "0; 1 if a condition of *--fail-if* is met; 2 for bad usage or a file that cannot be read.",
    "fleet": "0; 1 if a condition of *--fail-if* is met; 2 for bad usage, or if the server does not answer as it should.",
    "perflog": "0; 1 if a condition of *--fail-if* is met; 2 for bad usage or a log that cannot be read.",
}
EXITS["c++"] = EXITS["cc"]
USUAL_EXIT = "0, or 2 for bad usage or a file that cannot be read."

SERVER = ("~/.config/dwell/fleet", "The server with its user, password, database and certificates.")

# Files of single commands.
FILES = {
    "record": [("dwell.data, dwell.data.old", "The session, and the one before it of the same name (*-o*).")],
    "compare": [("compare-before-1.data, compare-after-1.data", "The sessions of the first run of both programs, and so "
                 "on (*-o*).")],
    "control": [("dwell.dump.data", "What *dump* writes without *-o*.")],
    "view": [("dwell.html", "The page that is written without *-o*.")],
    **{command: [("FILE.old", "An older session of the name that *-o* gives.")] for command in ("import", "merge", "profile")},
    "fleet": [SERVER],
    "cc": [("a.out, FILE.o", "What the compiler writes: the same files as without dwell.")],
    "doctor": [("libdwell.so.0", "The runtime, which *record* preloads: in the library folder beside that of dwell."),
               ("/proc/sys/kernel/perf_event_paranoid", "Whether users may ask the kernel for OS events.")],
    "mcp": [("dwell.data", "The session that a tool looks at, or writes, if it is given none.")],
    "perflog": [("APP_Platform_CPU_Major_Minor_Build.log", "The log that a program writes to its current directory, "
                 "unless *DWELL_PERFLOG* names another.")],
}
FILES["c++"] = FILES["cc"]
CONFIG = ("$XDG_CONFIG_HOME/dwell/config, ~/.config/dwell/config",
          "Options that always apply; see CONFIGURATION of *dwell*(1).")


def command_summaries(sources):
    """{command: what it does} of the tables in main.c and of the features, all that dwell can have."""
    found = {}
    for source in sources.split(","):
        with open(source, encoding="utf-8") as file:
            found.update(re.findall(r'^    \{ "([a-z+]+)", \w+, "([^"]+)"', file.read(), re.M))
    return found


def sections(page):
    """[(title, text)] in their order."""
    return re.findall(r"^# ([A-Z ]+)\n\n(.*?)(?=^# |\Z)", page, re.S | re.M)


def dedented(text):
    return re.sub(r"^\t", "", text, flags=re.M)


def command_texts(section):
    """{command: its text} of section COMMANDS."""
    parts = re.split(r"^\*([a-z+\\]+)\*\n", section, flags=re.M)[1:]
    return {name.replace("\\", ""): dedented(text) for name, text in zip(parts[::2], parts[1::2])}


def synopsis_of(command, lines):
    name = command.replace("+", r"\+")
    own = [line.rstrip("+").rstrip("\\") for line in lines
           if re.match(rf"\*dwell\*? \*?{re.escape(name)}\*", line)]
    return "++\n".join(own) + "\n"


def other_page(text, titles):
    """Says of which page a section is, in a command's page."""
    names = "|".join(sorted(titles, key=len, reverse=True))
    return re.sub(rf"(?<![A-Z])((?:see|in|as in) |\()({names})(?=[.,;:)\s])", r"\1\2 of *dwell*(1)", text)


class Help:
    """What --help of a command says: its options, and its text before and after them."""

    def __init__(self, program, command):
        def printed(option):
            return subprocess.run([program, command, option], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.options = [line.split("\t") for line in printed("--print-options").splitlines()]
        self.summary, rest = printed("--print-text").split("\v")
        self.examples = rest.split("Examples:\n")[1].rstrip() if "Examples:\n" in rest else ""
        self.configurable = any(option[0] == "--no-config" for option in self.options)


def marked_argument(argument):
    return "".join(f"_{part}_" if re.fullmatch("[A-Z]+", part) else part if part in ">/" else escaped(part)
                   for part in re.split(r"([A-Z]+)", argument) if part)  # after an escape, _ would mean itself


def option_entry(name, letter, argument, text):
    value = "" if argument == "-" else marked_argument(argument) if argument[0:2] == "[=" else f" {marked_argument(argument)}"
    spellings = [f"*{name}*{value}"] if letter == "-" else [f"*{letter}*{value}", f"*{name}*{value}"]
    return f"{', '.join(spellings)}\n\t{escaped(text)}{'' if text.endswith('.') else '.'}\n\n"


def options_section(options):
    """By the headings of --help, in its order: those of the command first, without one."""
    result = ""
    for heading in dict.fromkeys(["-"] + [option[4] for option in options if option[4] != "Other:"] + ["Other:"]):
        title = re.sub(r"[:(,].*", "", heading).strip()
        result += "" if heading == "-" else f"## {title.upper()}\n\n"
        result += "".join(option_entry(*option[:4]) for option in options if option[4] == heading)
    return f"# OPTIONS\n\n{result}"


def files_entries(files):
    return "# FILES\n\n" + "".join(f"_{escaped(name)}_\n\t{text}\n\n" for name, text in files)


def files_section(command, synopsis, configurable):
    files = list(FILES.get(command, []))
    if re.search(r"\[_FILE_(\.\.\.|\\?\]| \[)", synopsis):
        files.insert(0, ("dwell.data", "The session that is read if no _FILE_ is given."))
    if configurable:
        files.append(CONFIG)
    return files_entries(files) if files else ""


def see_also(command, commands):
    others = [other for other in commands
              if other != command and any({command, other} <= set(line.split()) for line in NEIGHBOURS)]
    return "# SEE ALSO\n\n" + ", ".join(["*dwell*(1)"] + [f"*dwell-{o}*(1)".replace("+", r"\+") for o in others])


def page_of_command(command, does, synopsis, text, extra, titles, program, commands):
    name = command.replace("+", r"\+")
    purpose = does.replace("+", r"\+")
    said = None if program == "-" else Help(program, command)
    body = f"dwell-{command.replace('+', 'x')}(1)\n\n# NAME\n\ndwell-{name} - {purpose}\n\n# SYNOPSIS\n\n{synopsis}\n"
    body += "# DESCRIPTION\n\n" + (f"{escaped(said.summary)}\n\n" if said else "") + f"{other_page(text, titles)}\n"
    for title, part in extra:
        body += f"# {title}\n\n{other_page(part, titles)}"
    if said:
        body += options_section(said.options)
        if said.examples:
            body += "# EXAMPLES\n\n```\n" + re.sub(r"^  ", "", said.examples, flags=re.M) + "\n```\n\n"
    body += f"# EXIT STATUS\n\n{EXITS.get(command, USUAL_EXIT)}\n\n"
    body += files_section(command, synopsis, said and said.configurable)
    return body + see_also(command, commands) + (
        "\n" if said else f"\n\n*dwell {name} --help* lists the options, with examples.\n")


def page_of_program(page, summaries, headers):
    """dwell(1): what the commands share."""
    parts = sections(page)
    result = "dwell(1)\n\n"
    for title, text in parts:
        if title in OWN_SECTIONS.values():
            continue
        if title == "SYNOPSIS":
            shared = text[text.index("\n_PART_") + 1:]
            text = f"*dwell* _COMMAND_ [_OPTION_...] [_ARGUMENT_...]++\n*dwell* *help* [_COMMAND_]++\n*dwell* *version*\n\n{shared}"
        if title == "COMMANDS":
            text = "Each command has a page of its own.\n\n" + "".join(
                f"*dwell-{command}*(1)\n\t{does}\n\n".replace("+", r"\+") for command, does in summaries.items())
        result += f"# {title}\n\n{text}"
    config = (CONFIG[0], "Options that always apply; see CONFIGURATION.")
    session = (FILES["record"][0][0], "What *record* writes without *-o*, and the one before it.")
    files = [session, config] + ([SERVER] if "fleet" in summaries else [])
    pages = [r"*dwell\_" + os.path.basename(header) + "*(3)" for header in headers]
    others = [f"*dwell-{command}*(1)".replace("+", r"\+") for command in summaries]
    return result + files_entries(files) + "# SEE ALSO\n\n" + ", ".join(others + pages) + "\n"


def escaped(text):
    return re.sub(r"([\\*_+\[\]<>`#|])", r"\\\1", text)


def header_blocks(source):
    """[(comment, declarations)] of a header from its first comment on. Both are texts."""
    source = re.sub(r"#ifdef __cplusplus\n(extern \"C\" \{|\})\n#endif\n", "", source)
    parts = re.split(r"^/\*(.*?)\*/\n", source, flags=re.S | re.M)
    return list(zip(parts[1::2], parts[2::2]))


def comment_text(comment):
    lines = [re.sub(r"^ ?\* ?|^\s+\* ?", "", line).strip("\n") for line in comment.strip().splitlines()]
    return "\n".join(lines).strip()


def declarations(code):
    """What a program uses: without bodies, include guards and the connection to the runtime."""
    code = re.sub(r"^DWELL_CALL (.*?)\n\{.*?^\}\n", r"\1;\n", code, flags=re.S | re.M)
    code = re.sub(r"^#define DWELL_PERFLOG_CALL.*\n", "", code, flags=re.M)
    code = re.sub(r" ?DWELL_PERFLOG_CALL\(\w+\)|\n? +__attribute__\(\(.*?\)\)(?=;)|DWELL_EVENT_ASSERT\(.*\);\n", "", code)
    code = re.sub(r"\n +;", ";", code)
    code = re.sub(r"^#(ifndef|ifdef|if|elif|else|endif|include|undef).*\n", "", code, flags=re.M)
    code = re.sub(r"^#define (DWELL_\w+_H|DWELL_CALL|DWELL_ASK|DWELL_TELL|DWELL_ADDRESS_OF|DWELL_EVENT_ASSERT)"
                  r"(.*\\\n)*.*\n", "", code, flags=re.M)
    return code.strip()


def paragraphs(comment):
    """The comment as scdoc: indented lines stay as they are."""
    result = ""
    for part in comment.split("\n\n"):
        if part.startswith("    "):
            result += "```\n" + re.sub(r"^    ", "", part, flags=re.M) + "\n```\n\n"
        else:
            result += escaped(" ".join(part.split())) + "\n\n"
    return result


def page_of_header(path):
    name = os.path.basename(path)
    with open(path, encoding="utf-8") as file:
        blocks = [(comment_text(comment), declarations(code)) for comment, code in header_blocks(file.read())]
    purpose = re.split(r"[.:] ", blocks[0][0].replace("\n", " "))[0].rstrip(".")
    first = purpose.split()[0]
    purpose = purpose.replace(first, first.lower(), 1) if first.istitle() else purpose
    page = (f"dwell_{name}(3)\n\n# NAME\n\ndwell_{name.replace('_', chr(92) + '_')} - {escaped(purpose)}\n\n"
            f"# SYNOPSIS\n\n*#include <dwell/{name}>*\n\n# DESCRIPTION\n\n{paragraphs(blocks[0][0])}"
            + (f"```\n{blocks[0][1]}\n```\n\n" if blocks[0][1] else ""))
    for comment, code in blocks[1:]:
        heading = re.fullmatch(r"---- (.*) ----", comment)
        if heading:
            page += f"# {heading[1].upper()}\n\n" + (f"```\n{code}\n```\n\n" if code else "")
        elif code:
            page += f"```\n{code}\n```\n\n{paragraphs(comment)}"
    return page + "# SEE ALSO\n\n*dwell*(1), *dwell-record*(1)\n"


def tidy_roff(roff, name):
    """scdoc takes no + in a page's name, and prints empty paragraphs."""
    roff = roff.replace('.TH "dwell-cxx"', '.TH "dwell-c++"') if name == "dwell-c++.1" else roff
    roff = re.sub(r"^\.P\n(?=\.(P|SH|RE)\b)|\.P\n\Z", "", roff, flags=re.M)
    return re.sub(r"^(\.SH .*\n|\.TH .*\n|\.RE\n)(\.P\n)+(?=\.S[HS])|^(\.S[HS] .*\n)(\.P\n)+", lambda match: match[1] or match[3], roff, flags=re.M)


def write_page(scdoc, folder, name, text):
    made = subprocess.run([scdoc], input=text, stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode:
        sys.exit(f"{name}: scdoc fails on:\n" + "\n".join(f"{n:4} {line}" for n, line in enumerate(text.split("\n"), 1)))
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(tidy_roff(made.stdout, name))


def main():
    scdoc, sources, commands, scd, folder, program, *headers = sys.argv[1:]
    summaries = command_summaries(sources)
    with open(scd, encoding="utf-8") as file:
        page = file.read()
    parts = dict(sections(page))
    texts = command_texts(parts["COMMANDS"])
    lines = parts["SYNOPSIS"].splitlines()
    if set(texts) != set(summaries):
        sys.exit(f"{scd}: its commands are not those of {sources}: {set(texts) ^ set(summaries)}")
    summaries = {command: summaries[command] for command in commands.split(",")}  # those of this build
    titles = set(parts) - set(OWN_SECTIONS.values())
    write_page(scdoc, folder, "dwell.1", page_of_program(page, summaries, headers))
    for command, does in summaries.items():
        extra = [(OWN_SECTIONS[command], parts[OWN_SECTIONS[command]])] if command in OWN_SECTIONS else []
        write_page(scdoc, folder, f"dwell-{command}.1",
                   page_of_command(command, does, synopsis_of(command, lines), texts[command], extra, titles, program,
                                   list(summaries)))
    for header in headers:
        write_page(scdoc, folder, f"dwell_{os.path.basename(header)}.3", page_of_header(header))


main()
