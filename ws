#!/usr/bin/env bash
# Runs a command in the ROS 2 workspace environment, after making and building what is missing.
set -euo pipefail

root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
env=$root/.ros
venv=$env/venv
underlay=$env/underlay
later=$env/later # interfaces of other tools, built in the background
build_stamp=$root/install/.ws_sources
over=$env/over # what a sourced ROS 2's Python lacks

usage() {
  cat <<'END'
usage: ./ws COMMAND...       run a command in the ROS 2 workspace environment
       ./ws test [ARGS...]   run every check and test; ARGS go to pytest
       ./ws test --quick     only the tests that start no process and are not slow
       ./ws docs [serve]     build the docs as a site in site/, or show them while you write
       ./ws doctor [--json]  what is installed, what is missing, and what to do about it
       ./ws clean            remove what ws made: .ros, build, install, log and site

A sourced ROS 2 is used; Python packages that it lacks go into a virtual environment
over it, in .ros/over. Where no ROS 2 is sourced, one is made in .ros, once: 632 MB are
downloaded and 1.9 GB stored, in a few minutes. The workspace is built when its
sources have changed. Nodes talk to those of this machine only, unless
ROS_AUTOMATIC_DISCOVERY_RANGE says SUBNET.

  ./ws ros2 launch arm_sim cube.launch.py
  ./ws ros2 topic list
  ./ws bash
END
}

# A shell cannot undo that SIGINT is ignored, as it is in background jobs; nodes end by it.
[[ $(trap -p INT) != *"''"* ]] || exec env --default-signal=INT "${BASH_SOURCE[0]}" "$@"

# Without HOME, logs and caches would go to the root folder.
[[ -n ${HOME:-} ]] || { unset HOME; export HOME=~; }

say() { echo "ws: $1" >&2; }
die() { say "$1"; exit "${2:-1}"; }

# At least this much of what `ulimit` bounds, or nodes end with errors of the middleware.
check_limit() {
  local limit
  limit=$(ulimit "$1")
  [[ $limit == unlimited || $limit -ge $2 ]] || die "a node needs $2 $3, and 'ulimit $1' allows $limit: raise the limit"
}

# Puts a folder in front of a path variable that does not have it.
prepend() { [[ :${!1:-}: == *:$2:* ]] || export "$1=$2${!1:+:${!1}}"; }

# Only one ws at a time changes .ros, build and install.
lock() {
  mkdir -p "$env"
  exec {lock}>"$env/lock"
  flock --nonblock "$lock" || { say 'waiting for another ws that is working here'; flock "$lock"; }
}
unlock() { exec {lock}>&-; }

python312() {
  local python
  for python in python3.12 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12*/bin/python3.12 \
    "$(uv python find 3.12 2>/dev/null)"; do
    if "$python" -c 'import ensurepip, sys; sys.exit(sys.version_info[:2] != (3, 12))' 2>/dev/null; then
      echo "$python"
      return
    fi
  done
  return 1
}

sourced_ros() {
  [[ -n ${ROS_DISTRO:-} && -n ${AMENT_PREFIX_PATH:-} && :$AMENT_PREFIX_PATH: != *":$venv:"* ]] || return
  if ! python3 -c 'import rclpy' 2>/dev/null; then
    say "ROS 2 $ROS_DISTRO is sourced, but $(command -v python3) cannot import its rclpy: .ros is used instead"
    return 1
  fi
  python3 -c 'import control_msgs' 2>/dev/null ||
    die "no control_msgs found: run 'rosdep install --from-paths $root $root/arm_interfaces --ignore-src' first"
  python3 -c 'import colcon_core' 2>/dev/null ||
    die 'no colcon found: install python3-colcon-common-extensions first'
}

# Ubuntu's Python takes no packages from PyPI (PEP 668), and some of its own are too old.
use_over() {
  local missing lists=(requirements.txt)
  [[ $1 == test ]] && lists+=(requirements-test.txt)
  [[ ! -x $over/bin/python3 ]] || enter_over
  missing=$(cd "$root" && python3 tools/missing_packages.py "${lists[@]}")
  [[ -n $missing ]] || return 0
  lock
  say "the sourced ROS 2's Python lacks $missing: it goes into .ros/over ..."
  [[ -x $over/bin/python3 ]] || python3 -m venv --system-site-packages "$over" >"$env/over.log" 2>&1 ||
    { rm -rf "$over"; die "python3 -m venv failed, see $env/over.log: install python3-venv first"; }
  enter_over
  (cd "$root" && python3 -m pip install "${lists[@]/#/--requirement=}") >"$env/over.log" 2>&1 ||
    { grep -i error "$env/over.log" | head -n 3 >&2; die "pip failed, see $env/over.log"; }
  unlock
}
enter_over() {
  # Ubuntu's ros2 starts with Ubuntu's Python; its launch files import what is in here.
  printf '#!%s\nimport sys\nfrom ros2cli.cli import main\n\nsys.exit(main())\n' "$over/bin/python3" >"$over/bin/ros2"
  chmod +x "$over/bin/ros2"
  export VIRTUAL_ENV=$over
  prepend PATH "$over/bin"
}

recipe() { (cd "$root" && pwd && sha256sum tools/ros_env/*.py tools/fallback_ros2/*); }
# A worktree may link its .ros to another one's, which then keeps it up to date.
is_linked() { [[ -L $venv && -x $venv/bin/python ]]; }
environment_is_ready() { is_linked || [[ -x $venv/bin/python && -f $env/ready && $(<"$env/ready") == "$(recipe)" ]]; }

make_environment() {
  environment_is_ready && return
  lock
  if ! environment_is_ready; then
    local entry python made_in
    if [[ -f $env/ready ]]; then
      read -r made_in <"$env/ready"
      if [[ $made_in == "$root" ]]; then
        say 'tools/ros_env or tools/fallback_ros2 has changed: .ros is brought up to date'
      else
        say ".ros was made in $made_in, and its files contain that path: .ros is made again"
      fi
    fi
    for entry in "$env"/*; do  # nothing is written through a link
      if [[ -L $entry ]]; then rm "$entry"; fi
    done
    python=$(python312) || die "no Python 3.12 with pip found (on PATH, in pyenv or uv), which ROS 2 Jazzy needs: install one, for example with 'uv python install 3.12'"
    [[ -f $env/stamps/check ]] || say 'making a ROS 2 environment in .ros, once (./ws --help says more)'
    [[ -x $venv/bin/python ]] || rm -rf "$env/stamps"
    "$python" "$root/tools/ros_env"
    recipe >"$env/ready"
  fi
  unlock
}

# No launch file of ours waits for what only other tools ask for. Tests do: they try all.
build_later() {
  local tried=$env/later.tried output=$env/later.log
  if is_linked || [[ -d $later && -f $tried && $(<"$tried") == "$(recipe)" ]]; then
    return
  elif [[ $1 == test ]]; then
    "$venv/bin/python" "$root/tools/ros_env" later || die "interfaces of others' tools cannot be built"
    recipe >"$tried"
  elif [[ ! -f $tried || $(<"$tried") != "$(recipe)" ]] && flock --nonblock "$env/later.lock" true; then
    say "building interfaces for other tools in the background (docs/environment.md); output: $output"
    ( (nice -n 19 setsid "$venv/bin/python" "$root/tools/ros_env" later; recipe >"$tried") </dev/null >"$output" 2>&1 &)
  fi
}

use_environment() {
  local site=lib/python3.12/site-packages libraries
  export ROS_DISTRO=jazzy ROS_VERSION=2 ROS_PYTHON_VERSION=3 VIRTUAL_ENV=$venv CMAKE_GENERATOR=Ninja
  unset PYTHONHOME PYTHONPATH AMENT_PREFIX_PATH CMAKE_PREFIX_PATH
  prepend AMENT_PREFIX_PATH "$later:$underlay:$venv"
  prepend CMAKE_PREFIX_PATH "$underlay:$venv"
  prepend PYTHONPATH "$later/$site:$underlay/$site"
  prepend PATH "$venv/bin"
  # The wheels' own start-up hook sets this too, by starting Python a second time.
  export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
  for libraries in "$venv/$site"/ros_*.libs "$venv/lib" "$underlay/lib" "$later/lib"; do
    prepend LD_LIBRARY_PATH "$libraries"
  done
}

# What is built or installed: Python modules are linked, so only their packages' names count.
sources() {
  echo "$ROS_DISTRO $(command -v python3)"
  cd "$root"
  find package.xml setup.py setup.cfg resource arm_interfaces -type f -printf '%p %T@\n' | sort
  find launch config urdf arm_* \( -name __pycache__ -o -name '*.egg-info' -o -name '*_output' \) -prune -o \
    -type f \( -not -name '*.py' -or -name '*.launch.py' -or -name __init__.py \) -print | sort
  ls arm_*/laws/*.py arm_*/commands/*.py arm_*/ros/*.py arm_*/*/ros/*.py # setup.py makes executables of them
}
interfaces() { grep -E "^($ROS_DISTRO |arm_interfaces/)"; }
workspace_is_built() { [[ -f $build_stamp && $(<"$build_stamp") == "$(sources)" ]]; }

build() {
  workspace_is_built && return
  lock
  if ! workspace_is_built; then
    local now packages=(arm_sim) output=$root/log/ws_build.txt start=$SECONDS
    now=$(sources)
    if [[ ! -f $build_stamp || $(head -n 1 "$build_stamp") != "${now%%$'\n'*}" ]]; then
      rm -rf "$root"/{build,install}/{arm_interfaces,arm_sim} # of another ROS 2
    fi
    if [[ ! -f $build_stamp || $(interfaces <"$build_stamp") != "$(interfaces <<<"$now")" ]]; then
      packages=(arm_interfaces arm_sim)
    fi
    say "building the workspace (${packages[*]}) ..."
    mkdir -p "$root/log"
    (cd "$root" && python3 -m colcon --log-base log build --base-paths . arm_interfaces \
      --packages-select "${packages[@]}" --symlink-install --event-handlers console_direct+ \
      --cmake-args -DBUILD_TESTING=OFF ${made:+-DARM_INTERFACES_CPP=OFF} \
      "-DPython3_EXECUTABLE=$(command -v python3)") </dev/null >"$output" 2>&1 ||
      { grep -i -A 5 'error' "$output" | head -n 20 >&2; die "the build failed, see $output"; }
    echo "$now" >"$build_stamp"
    say "built in $((SECONDS - start)) s"
    built=yes
  fi
  unlock
}

use_workspace() {
  local package folder
  for package in arm_interfaces arm_sim; do
    prepend AMENT_PREFIX_PATH "$root/install/$package"
    prepend CMAKE_PREFIX_PATH "$root/install/$package"
  done
  prepend LD_LIBRARY_PATH "$root/install/arm_interfaces/lib"
  for folder in "$root"/install/arm_interfaces/lib/python3*/site-packages "$root/build/arm_sim"; do
    prepend PYTHONPATH "$folder"
  done
}

# ROS 2 does not start without a folder for its logs.
use_log_folder() {
  local logs=${ROS_LOG_DIR:-${ROS_HOME:-${HOME:-}/.ros}/log}
  { mkdir -p "$logs" && [[ -w $logs ]]; } 2>/dev/null && return
  ROS_LOG_DIR=$(mktemp -d) || die 'no folder for temporary files can be written'
  export ROS_LOG_DIR
  say "$logs cannot be written: ROS 2 logs to $ROS_LOG_DIR"
}

# Compiled numeric code and Python's bytecode, so that no launch waits for them.
warm_up() {
  env -u PYTHONDONTWRITEBYTECODE python3 "$root/tools/warm_up.py"
  env -u PYTHONDONTWRITEBYTECODE ros2 launch arm_sim cube.launch.py --show-args >/dev/null
}

# Every check runs, also after one that failed; tests have a ROS domain of their own.
check_all() {
  local failed=() workers=()
  cd "$root"
  # Else each process of the tests would compile again what it imports.
  unset PYTHONDONTWRITEBYTECODE
  # These tests never wait: a worker more than there are cores would only import all once more.
  if [[ ${1:-} == --quick ]]; then
    set -- -m 'not slow' -n "$(nproc)" --dist loadfile --ignore test/system --ignore test/hostile "${@:2}"
  fi
  # All tests run file by file side by side, one more than there are cores, since a quarter of the
  # time they wait; single ones as pytest runs them.
  [[ $# -gt 0 ]] || workers=(-n "$(($(nproc) + 1))" --dist loadfile --no-loadscope-reorder)
  export ROS_DOMAIN_ID=${ROS_DOMAIN_ID:-$((1 + $$ % 100))}
  say 'checks of style and types (half a minute, two the first time), then the tests'
  python3 -m ruff check --quiet || failed+=('ruff check')
  python3 -m ruff format --check --quiet || failed+=('ruff format')
  python3 -m mypy || failed+=(mypy)
  python3 -m pytest "${workers[@]}" "$@" || failed+=(pytest)
  [[ ${#failed[@]} == 0 ]] || die "failed: $(printf '%s, ' "${failed[@]}" | sed 's/, $//')"
}

case ${1:-} in
  '' | -h | --help)
    usage
    exit
    ;;
  clean)
    [[ $# == 1 ]] || die 'clean takes no arguments' 2
    cd "$root"
    exec rm -rf .ros build install log site
    ;;
  -*) die "unknown option '$1'; ./ws --help shows the usage" 2 ;;
esac

check_limit -n 256 'open files'
check_limit -v 4000000 'kB of address space'
if sourced_ros; then
  use_over "$1"
else
  make_environment
  use_environment
  made=yes
fi
build
use_workspace
export ARM_SIM_WS=yes # commands name the next one as it is typed
# Nodes find those of this machine, unless the user says otherwise.
export ROS_AUTOMATIC_DISCOVERY_RANGE=${ROS_AUTOMATIC_DISCOVERY_RANGE:-LOCALHOST}
[[ -z ${built:-} ]] || warm_up
use_log_folder
[[ -z ${made:-} ]] || build_later "$1"

# MkDocs is no part of the environment until somebody wants it.
make_docs() {
  cd "$root"
  if ! python3 -c 'import material, mkdocstrings_handlers.python' 2>/dev/null; then
    say 'installing what requirements-docs.txt names'
    python3 -m pip install --quiet --disable-pip-version-check -r requirements-docs.txt ||
      die 'pip could not install requirements-docs.txt'
  fi
  export NO_MKDOCS_2_WARNING=1
  if [[ ${1:-build} == build ]]; then
    # Quiet, it would not say why it fails.
    python3 -m mkdocs build 2> >(grep -v '^INFO' >&2) && say "open $root/site/index.html"
  else
    exec python3 -m mkdocs "$@"
  fi
}

if [[ $1 == test ]]; then
  check_all "${@:2}"
elif [[ $1 == docs ]]; then
  make_docs "${@:2}"
elif [[ $1 == doctor ]]; then
  exec python3 -m arm_sim.executables "$@"
else
  type -P -- "$1" >/dev/null || die "command not found: $1" 127
  exec "$@"
fi
