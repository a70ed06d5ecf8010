#!/usr/bin/env bash
# man_pages.sh PROGRAM FOLDER: writes a man page of sluice and of each of its commands, by help2man.
set -euo pipefail
program=$(realpath "$1") folder=$2
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# help2man expects a synopsis as "Usage: A" and "  or:  B", but the help of sluice has one line per form below "Usage:".
# So the script below rewrites the lines of the help.
cat >"$work/synopsis.awk" <<'AWK'
/^Usage:$/ { usage = 1; next }
usage && /^  sluice/ { if (line != "") print line; line = (count++ ? "  or:  " : "Usage: ") substr($0, 3); next }
usage && /^ +/ { sub(/^ +/, ""); line = line " " $0; next }
usage { print line; usage = 0; line = "" }
{ print }
AWK

# page NAME SUMMARY [COMMAND]
page() {
  local wrapper=$work/$1
  {
    printf '#!/bin/sh\n[ "$1" = --version ] && exec "%s" --version\n' "$program"
    printf '"%s" help %s | awk -f "%s"\n' "$program" "${3:-}" "$work/synopsis.awk"
  } >"$wrapper"
  chmod +x "$wrapper"
  COLUMNS=80 help2man --no-info --name "$2" "$wrapper" |
    sed -e "s/^\.TH SLUICE /.TH ${1^^} /" -e "s/^sluice \\\\- /$1 \\\\- /" >"$folder/$1.1"
}

page sluice "neural networks on machines whose memory is too small"
"$program" completion words "" | while read -r command; do
  [[ $command == help || $command == version ]] && continue
  summary=$(COLUMNS=1000 "$program" help "$command" | head -1)
  page "sluice-$command" "${summary#*: }" "$command"
  grep -q '^Subcommands:$' <("$program" help "$command") || continue
  "$program" completion words "$command" "" | while read -r word; do
    summary=$(COLUMNS=1000 "$program" help "$command" "$word" | head -1)
    page "sluice-$command-$word" "${summary#*: }" "$command $word"
  done
done
