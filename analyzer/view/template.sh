#!/bin/sh
# Writes an assembler source that contains the bytes of the file PAGE: template.sh PAGE
grep -q '<!-- dwell:sessions -->' "$1" || { echo "$1: has no marker for sessions" >&2; exit 1; }
grep -q '<meta http-equiv="Content-Security-Policy" content="[^"]*'"'sha256-" "$1" ||
    { echo "$1: has no policy that allows its script by a hash" >&2; exit 1; }
cat <<END
/* $(cksum <"$1"): this changes with the page, so that the source is assembled again */
	.section .rodata
	.globl page_template
	.globl page_template_end
page_template:
	.incbin "$1"
page_template_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
END
