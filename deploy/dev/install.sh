#!/bin/sh
# Installs the dependencies when they are missing or belong to another package-lock.json. npm runs it
# before start, test, admin and example, so that a fresh clone needs no other command. What it says
# goes to stderr: stdout belongs to the command that follows.
set -eu
cd "$(dirname "$0")/../.."

# There only while node_modules is whole: the checksum of the package-lock.json that it belongs to.
stamp=node_modules/.installed
# npm's own record, which it writes last.
record=node_modules/.package-lock.json

checksum() {
  cksum < package-lock.json
}

put_stamp() {
  checksum > "$stamp.$$" && mv -f "$stamp.$$" "$stamp"
}

is_installed() {
  [ "$(cat "$stamp" 2>/dev/null)" = "$(checksum)" ] && return 0
  # Installed by hand.
  [ "$record" -nt package-lock.json ] || return 1
  { put_stamp; } 2>/dev/null || true
}

# The kernel holds the lock for whoever has file 9 open, this shell and the npm that it starts, so it
# ends with them and not before: an npm whose shell was killed still writes.
lock() {
  exec 9>> .cache/install
  if command -v flock > /dev/null; then
    flock -n 9 && return 0
    echo "Waiting for another installation in this folder …" >&2
    flock 9
  elif command -v perl > /dev/null; then
    perl -e 'open(my $f, ">>&=", 9) or die $!; flock($f, 2) or die $!'
  fi
}

is_installed && exit 0

if ! { mkdir -p .cache && test -w . && test -w .cache; } 2>/dev/null; then
  echo "The dependencies are not installed, and they cannot be: $PWD is not writable." >&2
  echo "Run npm install there as a user who may write, then start again." >&2
  exit 1
fi
lock
is_installed && exit 0

echo "Installing dependencies (only after a change of package-lock.json) …" >&2
if [ -e "$stamp" ]; then
  # Whole, but of another package-lock.json: npm changes what differs. Until it is done, nothing may
  # say that the tree is whole.
  rm -f "$record" "$stamp"
else
  # An installation that was cut short leaves half a package, which npm would take for a whole one.
  rm -rf node_modules packages/*/node_modules services/*/node_modules deploy/dev/node_modules \
    proto/node_modules
fi
# Not npm ci, which refuses a lock file without entries for the optional packages of other platforms;
# --no-save keeps to the lock file in the same way. The old Node that starts npm gives rise to
# warnings which do not matter: ours comes with the dependencies. Everything is installed also where
# npm is set to leave parts out.
npm install --no-save --loglevel=error --no-audit --no-fund --include=dev --include=optional >&2
put_stamp
