#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A second try of single rows of a proof, with what NCCL, cuDNN and cuBLASLt log.
#
#   bash again.sh ROW,... [--out DIR] [--minutes N] [OPTION OF gpu_proof...]
#
# As start.sh, beside which it lies; ends within 5 minutes where --minutes says no other (corners needs 6). --out needs a
# folder of its own; default: again, beside this script. Logging costs time: its steps are no figures to send.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
case ${1:-} in
  '') printf 'again: it needs rows, such as: bash again.sh calibrate,trace-gpt2\n' >&2; exit 2 ;;
  -h | --help) sed -n '3,/^[^#]/{s/^# \{0,1\}//p;}' "$0"; exit 0 ;;
  -*) printf "again: '%s' stands where rows have to; they come first\n" "$1" >&2; exit 2 ;;
esac
if [[ " $*" == *" --rows"* ]]; then printf "again: the rows come first, once: leave --rows out\n" >&2; exit 2; fi
export NCCL_DEBUG=INFO CUDNN_LOGLEVEL_DBG=2 CUDNN_LOGDEST_DBG=stderr CUBLASLT_LOG_LEVEL=2
exec bash "$here/start.sh" --out "$here/again" --minutes 5 --rows "$1" "${@:2}"
