#!/bin/sh
# What CI runs on the main branch: shows what differs, then sends the definitions of a folder.
# WORKFLOW_URL and WORKFLOW_API_KEY say where to and as whom; workflowctl has to be on the PATH.
set -eu
folder=${1:?"usage: deploy.sh FOLDER"}

# 1 only says that something differs; a file or a server that is wrong has another code.
workflowctl workflows diff --dir "$folder" || [ $? -eq 1 ]
workflowctl workflows push --dir "$folder" --yes
