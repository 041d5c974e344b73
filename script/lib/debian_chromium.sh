#!/usr/bin/env bash
# Prints the path of a Chromium for the browser test: the machine's own, or Debian's, unpacked
# into a private folder. Nothing of the system is installed, so it works as root or not.
# Needs for the second: a Debian with apt-get and dpkg-deb.
set -euo pipefail
. "$(dirname "$0")/common.sh"

prefix=$cache/chromium
start=$prefix/start

for name in chromium chromium-browser google-chrome; do
  found=$(command -v "$name") && "$found" --version >&2 2>/dev/null && { echo "$found"; exit 0; }
done
[ -x "$start" ] && { echo "$start"; exit 0; }
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || exit 1
grep -qx 'ID=debian' /etc/os-release 2>/dev/null || exit 1 # elsewhere the package holds none

# The machine's own sources, keys and list of packages: what it has already is not fetched.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,archives/partial,tree}
cat >"$work/apt.conf" <<CONF
Dir::State::lists "$work/lists";
Dir::State::extended_states "$work/extended_states";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Log "$work";
APT::Sandbox::User "";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "3";
Debug::NoLocking "true";
CONF
export APT_CONFIG=$work/apt.conf
apt-get -qq update >&2
apt-get -qq -y install --download-only chromium fonts-dejavu-core >&2
for package in "$work"/archives/*.deb; do
  dpkg-deb -x "$package" "$work/tree"
done

libs=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")
cat >"$work/tree/start" <<START
#!/bin/sh
here=\$(cd "\$(dirname "\$0")" && pwd)
export LD_LIBRARY_PATH="\$here/$libs:\$here/$libs/pulseaudio\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
export FONTCONFIG_FILE="\$here/fonts.conf"
exec "\$here/usr/lib/chromium/chromium" "\$@"
START
chmod +x "$work/tree/start"
cat >"$work/tree/fonts.conf" <<'FONTS'
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir prefix="relative">usr/share/fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
FONTS

rm -rf "$prefix"
mkdir -p "$cache"
mv "$work/tree" "$prefix"
"$start" --version >&2 || { rm -rf "$prefix"; exit 1; }
echo "$start"
