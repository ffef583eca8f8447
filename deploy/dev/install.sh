#!/bin/sh
# Installs the dependencies when they are missing or belong to another package-lock.json. npm runs it
# before start, test, admin and example, so that a fresh clone needs no other command. What it says
# goes to stderr: stdout belongs to the command that follows.
set -eu
cd "$(dirname "$0")/../.."

stamp=node_modules/.installed
lock=.cache/install.lock

checksum() {
  cksum < package-lock.json
}

is_installed() {
  [ "$(cat "$stamp" 2>/dev/null)" = "$(checksum)" ] && return 0
  # Installed by hand: npm writes its own record last.
  [ node_modules/.package-lock.json -nt package-lock.json ] || return 1
  checksum > "$stamp" 2>/dev/null || true
}

is_installed && exit 0

mkdir -p .cache
until mkdir "$lock" 2>/dev/null; do
  owner=$(cat "$lock/pid" 2>/dev/null || true)
  if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
    rm -rf "$lock"
  else
    sleep 1
  fi
done
echo $$ > "$lock/pid"
trap 'rm -rf "$lock"' EXIT
trap 'exit 130' INT TERM HUP

is_installed && exit 0
echo "Installing dependencies (only after a change of package-lock.json) …" >&2
# Not npm ci, which refuses a lock file without entries for the optional packages of other platforms;
# --no-save keeps to the lock file in the same way. The old Node that starts npm gives rise to
# warnings which do not matter: ours comes with the dependencies. Everything is installed also where
# npm is set to leave parts out.
npm install --no-save --loglevel=error --no-audit --no-fund --include=dev --include=optional >&2
checksum > "$stamp"
