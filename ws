#!/usr/bin/env bash
set -euo pipefail

root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
env=$root/.ros
venv=$env/venv

help() {
  cat <<'END'
usage: ./ws COMMAND...        run a command in the ROS 2 workspace environment
       ./ws test [ARGS...]    run every check and test; ARGS go to pytest
       ./ws clean             remove what ws made: .ros, build, install, log

Where ROS 2 is sourced, that is used. Where there is none, an environment is made in .ros once.

  ./ws ros2 launch arm_sim cube.launch.py
  ./ws ros2 topic list
  ./ws bash                   a shell in the environment
END
}

say() { echo "ws: $*" >&2; }
die() { say "$1"; exit "${2:-1}"; }

python312() {
  local candidate
  for candidate in python3.12 python3 "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.12*/bin/python3.12 \
      "$(uv python find 3.12 2>/dev/null)"; do
    if "$candidate" -c 'import sys, ensurepip; sys.exit(sys.version_info[:2] != (3, 12))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  return 1
}

# One ws at a time may change .ros, build and install.
lock() {
  mkdir -p "$env"
  exec {lock_fd}>"$env/lock"
  flock --nonblock $lock_fd || { say "waiting for another ws that is working here"; flock $lock_fd; }
}
unlock() { exec {lock_fd}>&-; }

sourced_ros() {
  [[ -n ${ROS_DISTRO:-} && -n ${AMENT_PREFIX_PATH:-} && :$AMENT_PREFIX_PATH: != *":$venv:"* ]]
}

recipe() { (cd "$root" && echo "$root" && cat tools/ros_env.py tools/fallback_ros2/*) | sha256sum; }

make_environment() {
  [[ -f $env/ready && $(<"$env/ready") == "$(recipe)" ]] && return
  lock
  if [[ ! -f $env/ready || $(<"$env/ready") != "$(recipe)" ]]; then
    local python
    python=$(python312) || die "no Python 3.12 found (looked for python3.12, pyenv and uv): install one, for example with 'uv python install 3.12'"
    "$python" "$root/tools/ros_env.py"
    recipe >"$env/ready"
  fi
  unlock
}

# Puts a directory in front of a path variable.
prepend() { export "$1=$2${!1:+:${!1}}"; }

use_environment() {
  local site=lib/python3.12/site-packages libraries
  export ROS_DISTRO=jazzy ROS_VERSION=2 ROS_PYTHON_VERSION=3 VIRTUAL_ENV=$venv
  export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
  AMENT_PREFIX_PATH=$env/underlay/control_msgs:$venv
  CMAKE_PREFIX_PATH=$AMENT_PREFIX_PATH
  PYTHONPATH=$env/underlay/control_msgs/$site
  LD_LIBRARY_PATH=$env/underlay/control_msgs/lib:$venv/lib
  for libraries in "$venv/$site"/ros_*.libs; do LD_LIBRARY_PATH+=:$libraries; done
  export AMENT_PREFIX_PATH CMAKE_PREFIX_PATH PYTHONPATH LD_LIBRARY_PATH
  prepend PATH "$venv/bin"
}

# What a build depends on: Python files are linked, so only their packages' names count.
sources() {
  cd "$root"
  find package.xml setup.py setup.cfg resource arm_interfaces -type f -printf '%p %T@\n'
  find launch config urdf -name __pycache__ -prune -o -type f -print
  find arm_* -name __init__.py -print
}

build() {
  local stamp=$root/install/.ws_sources
  [[ -f $stamp && $(<"$stamp") == "$(sources)" ]] && return
  lock
  if [[ ! -f $stamp || $(<"$stamp") != "$(sources)" ]]; then
    local now log=$root/log/ws_build.txt start=$SECONDS
    now=$(sources)
    say "building the workspace (arm_interfaces, arm_sim)"
    mkdir -p "$root/log"
    (cd "$root" && colcon --log-base log build --base-paths . arm_interfaces --symlink-install \
      --event-handlers console_direct+ --cmake-args -GNinja -DBUILD_TESTING=OFF \
      "-DPython3_EXECUTABLE=$(command -v python3)") >"$log" 2>&1 </dev/null \
      || { tail -n 30 "$log" >&2; die "the build failed, see $log"; }
    echo "$now" >"$stamp"
    say "built in $((SECONDS - start)) s"
  fi
  unlock
}

use_workspace() {
  local package
  for package in arm_interfaces arm_sim; do
    prepend AMENT_PREFIX_PATH "$root/install/$package"
    prepend CMAKE_PREFIX_PATH "$root/install/$package"
  done
  prepend LD_LIBRARY_PATH "$root/install/arm_interfaces/lib"
  for package in "$root"/install/arm_interfaces/lib/python3.*/site-packages "$root/build/arm_sim"; do
    prepend PYTHONPATH "$package"
  done
}

case ${1:-} in
  "" | -h | --help) help; exit ;;
  -*) die "unknown option '$1'; ./ws --help shows the usage" 2 ;;
  clean)
    [[ $# == 1 ]] || die "clean takes no arguments" 2
    (cd "$root" && rm -rf .ros build install log)
    exit ;;
esac

if sourced_ros; then
  :
else
  make_environment
  use_environment
fi
build
use_workspace

if [[ $1 == test ]]; then
  shift
  cd "$root"
  exec tools/check "$@"
fi
command -v -- "$1" >/dev/null || die "command not found: $1" 127
exec -- "$@"
