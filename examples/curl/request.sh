#!/bin/sh
# Asks for a material, submits a signed document, and waits for the lab's answer.
#
#   ALIQUOT_URL=https://aliquot.example.org ALIQUOT_TOKEN=alq_... \
#     sh request.sh "HT-29" signed-mta.pdf "We study how intestinal cells polarise."
#
# It needs sh, curl, and the small tools that every system has.
set -eu
: "${ALIQUOT_URL:?the address of the server, as https://aliquot.example.org}"
: "${ALIQUOT_TOKEN:?a token, from POST /v1/login}"
pause=${ALIQUOT_POLL:-60} # seconds between two looks at the request
[ $# -eq 3 ] || { echo "usage: $0 TITLE DOCUMENT ABSTRACT" >&2; exit 2; }
title=$1 document=$2 abstract=$3

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# call METHOD PATH [CURL OPTIONS...] leaves the answer in $work/body and its headers in $work/head;
# 304 leaves the body as it was. It tries again when the server says so with Retry-After (429 and
# 503, or 409 while the same call still runs) and after a broken connection. That is safe: a PATCH
# sets the same values once more, and a POST bears a key (see once).
call() {
  method=$1 path=$2 tries=0
  shift 2
  while :; do
    : >"$work/head"
    : >"$work/answer"
    wait=1
    if code=$(curl -sS -X "$method" "$ALIQUOT_URL$path" -H "Authorization: Token $ALIQUOT_TOKEN" \
      -D "$work/head" -o "$work/answer" -w '%{http_code}' "$@"); then
      case $code in
      304) return ;;
      2??) mv "$work/answer" "$work/body"; return ;;
      esac
      wait=$(header Retry-After)
    fi
    tries=$((tries + 1))
    [ -n "$wait" ] && [ "$tries" -lt 6 ] || break
    sleep "$wait"
  done
  echo "$method $path: $code" >&2
  cat "$work/answer" >&2 # error says what to do, fields which value is wrong
  exit 1
}

# header NAME is a header of the last answer.
header() { grep -i "^$1:" "$work/head" | tail -n 1 | cut -d: -f2- | tr -d ' \r'; }

# field NAME is the first member of that name in the body.
field() { grep -o "\"$1\":[^,}]*" "$work/body" | head -n 1 | cut -d: -f2- | tr -d '"[]'; }

# string TEXT is a JSON string.
string() { printf '"%s"' "$(printf %s "$1" | tr '\n' ' ' | sed 's/[\\"]/\\&/g')"; }

# once is a header for one POST: however often it is sent, it takes effect once.
once() { echo "Idempotency-Key: $(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"; }

json='Content-Type: application/json'

# A search comes in pages, the best hit first: next leads on, and is null on the last page.
material=
next="/v1/search/materials/?search=$(printf %s "$title" | od -An -v -tx1 | tr -d '\n' | tr ' ' %)&facets=false&limit=50"
while [ "$next" != null ] && [ -z "$material" ]; do
  call GET "$next"
  material=$(tr '{' '\n' <"$work/body" | grep -F "\"title\":$(string "$title")," | head -n 1 | cut -d, -f1 | cut -d: -f2)
  next=$(grep -o '"next":[^,}]*' "$work/body" | tail -n 1 | cut -d: -f2- | tr -d '"')
done
[ -n "$material" ] || { echo "nobody lists $title" >&2; exit 1; }
echo "material $material"

call POST /v1/material-requests/ -H "$(once)" -H "$json" \
  -d "{\"material\": $material, \"requester_abstract\": $(string "$abstract")}"
request=$(field id)
status=$(field status)
echo "request $request is $status"

call POST /v1/attachments/ -H "$(once)" -F "file=@$document" -F 'description=MTA, signed by us'
call PATCH "/v1/material-requests/$request" -H "$json" -d "{\"requester_signed_mta_attachment\": $(field id)}"
echo "submitted $document"

# As long as nothing changes the server only answers 304: it is told what is known already.
tag=
while [ "$(field status)" = "$status" ]; do
  sleep "$pause"
  call GET "/v1/material-requests/$request" -H "If-None-Match: $tag"
  tag=$(header ETag)
done
echo "request $request is $(field status)"
