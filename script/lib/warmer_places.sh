# Where the warmer is on a machine, for what installs and what removes it. Sourced, never run.

prefix=/opt/ollama-warmer
destdir=
daemon=ollama-warmerd.service
timer='ollama-warmer@.service ollama-warmer@.timer'
umask 022 # root's may be stricter, and the services are other users

# To be called when prefix and destdir are known.
find_places() {
  program=$destdir$prefix
  warmer=$program/bin/ollama-warmer
  etc=$destdir/etc/ollama-warmer
  units=$destdir/etc/systemd/system
  state=$destdir/var/lib
  [ -n "$destdir" ] || [ "$(id -u)" = 0 ] || die "run this as root: sudo $0 (warmer/README.md says how to do without, by hand)"
  [ -n "$destdir" ] || [ -d /run/systemd/system ] ||
    die "systemd does not run here: warmer/README.md says how by hand, or in a container"
}

# Asks or tells systemd something about units as they are on the disk.
control() {
  systemctl ${destdir:+--root="$destdir"} "$@"
}

# Tells the running systemd something; below a destdir nothing runs.
live() {
  [ -n "$destdir" ] || systemctl "$@"
}

# Ends a unit now and for the next start of the machine, if its file is there.
turn_off() {
  local unit=$1 file=$2
  [ -e "$units/$file" ] || return 0
  live stop "$unit"
  control disable --quiet "$unit"
}
