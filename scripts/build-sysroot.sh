#!/usr/bin/env bash
# Unpack the C and C++ libraries of the oldest system that the wheel is for, Debian 11, into $HTP_SYSROOT (see
# env.sh): what is linked against them asks for nothing younger. They come from the archive that apt is configured
# with, and apt checks their signature, with lists of its own: this system's stay as they are, and root is not needed.
set -euo pipefail
source "$(dirname "$0")/env.sh"

packages="libc6 libc6-dev libgcc-s1 libstdc++6"
work=$(mktemp -d)
trap 'rm -rf "$work" "$HTP_SYSROOT.part.$$"' EXIT
cd "$work"
mkdir -p state/lists/partial cache/archives/partial
touch status
archive=$(apt-get indextargets --format '$(SITE)' 'Origin: Debian' 'Created-By: Packages' | sed -n 1p)
[ -n "$archive" ] || { echo "error: apt is configured with no archive of Debian" >&2; exit 1; }
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [arch=amd64 signed-by=$keys] $archive bullseye main" >sources.list
apt() {
  apt-get -q -o APT::Architecture=amd64 -o APT::Sandbox::User=root -o Dir::State="$work/state" -o Dir::Cache="$work/cache" \
    -o Dir::State::status="$work/status" -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=- "$@"
}
# Without the option, lists that cannot be had are a warning.
apt -o APT::Update::Error-Mode=any update
# shellcheck disable=SC2086 # the packages are words
apt download $packages

mkdir -p "$HTP_SYSROOT.part.$$"
for package in *.deb; do dpkg-deb --extract "$package" "$HTP_SYSROOT.part.$$"; done
# Links that start at the root would lead into this system.
find "$HTP_SYSROOT.part.$$" -type l -lname '/*' | while read -r link; do
  ln -sfrn "$HTP_SYSROOT.part.$$$(readlink "$link")" "$link"
done
mv -T "$HTP_SYSROOT.part.$$" "$HTP_SYSROOT" 2>/dev/null || [ -e "$HTP_SYSROOT/lib" ] # another one was faster
