#!/bin/sh
# The steps that make an image's content, for the Dockerfile and for whoever has no Docker:
#   build.sh install                  the dependencies of production, in this checkout
#   build.sh assemble SERVICE FOLDER  what SERVICE needs to run, in a new FOLDER
set -eu
cd "$(dirname "$0")/../.."

case "${1-}" in
  install)
    # Not npm ci, which refuses a lock file without entries for other platforms; --no-save keeps to the
    # lock file in the same way. No package's own scripts: nothing that services need is made by one.
    # Optional packages are programs for developers' machines.
    npm install --no-save --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
      --loglevel=error
    ;;
  assemble)
    node deploy/docker/assemble.ts "$2" "$3"
    # Whoever runs it reads it and changes nothing.
    chmod -R a=rX "$3"
    du -sh "$3"
    ;;
  *)
    echo "Usage: build.sh install | build.sh assemble SERVICE FOLDER" >&2
    exit 2
    ;;
esac
