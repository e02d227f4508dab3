#!/usr/bin/env bash
# Installs the lab32 that lies beside this file, once, while the image is made. Gradescope calls it
# by its name; elsewhere: setup.sh, as root. LAB32_HOME: another place than /opt/lab32.
# LAB32_EXTRAS: `notebooks`, `class` or both with a comma, for what these need.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=${LAB32_HOME:-/opt/lab32}

# Ubuntu 22.04, Gradescope's usual image, has Python 3.10 and, as a package, 3.11.
find_python() {
  local name
  for name in python3 python3.14 python3.13 python3.12 python3.11; do
    if "$name" -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
    then command -v "$name"; return; fi
  done
  return 1
}

packages=()
command -v g++ >/dev/null || packages+=(g++)
command -v bwrap >/dev/null || packages+=(bubblewrap)
if ! find_python >/dev/null; then
  if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
  then packages+=(python3-venv)
  else packages+=(python3.11 python3.11-venv)
  fi
fi
if [ ${#packages[@]} -gt 0 ]; then
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${packages[@]}"
fi

"$(find_python)" -m venv --clear "$home"
"$home/bin/python" -m pip install --disable-pip-version-check \
  "$(echo "$here"/lab32-*.whl)${LAB32_EXTRAS:+[$LAB32_EXTRAS]}"
"$home/bin/lab32" doctor
