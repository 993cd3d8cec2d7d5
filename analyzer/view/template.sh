#!/bin/sh
# Writes an assembler source that holds the file PAGE as it is: template.sh PAGE
grep -q '<!-- dwell:sessions -->' "$1" || { echo "$1: has no place for sessions" >&2; exit 1; }
cat <<END
/* $(cksum <"$1"): so that this changes, and is assembled again, when the page does */
	.section .rodata
	.globl page_template
	.globl page_template_end
page_template:
	.incbin "$1"
page_template_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
END
