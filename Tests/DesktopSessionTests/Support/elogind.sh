#!/bin/sh
# elogind on the bus at DIRECTORY/bus, with mounts of its own: it puts no machine to sleep, but writes to DIRECTORY/power/state.
#
# usage: unshare --mount elogind.sh ELOGIND DIRECTORY, where ELOGIND is the unpacked package
set -eu
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd "$2/power"
echo 'freeze mem' >"$2/power/state"
echo "$2" >"$2/power/private"
mount --bind "$2/power" /sys/power
[ "$(cat /sys/power/private)" = "$2" ]
export DBUS_SYSTEM_BUS_ADDRESS="unix:path=$2/bus"
LD_LIBRARY_PATH="$(echo "$1"/lib/*-linux-gnu*):$1/lib/elogind"
export LD_LIBRARY_PATH
exec "$1/lib/elogind/elogind"
