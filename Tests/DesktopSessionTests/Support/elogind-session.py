#!/usr/bin/python3
"""Opens a login session for a process, and has elogind do what lines on standard input say.

usage: elogind-session.py ADDRESS PID
"""

import os
import sys

import dbus
import dbus.bus

bus = dbus.bus.BusConnection(sys.argv[1])
manager = dbus.Interface(bus.get_object('org.freedesktop.login1', '/org/freedesktop/login1'), 'org.freedesktop.login1.Manager')
# The session lives for as long as its pipe is open.
session, path, _, pipe, *_ = manager.CreateSession(
    dbus.UInt32(os.getuid()), dbus.UInt32(int(sys.argv[2])), 'test', 'tty', 'user', 'none', '', dbus.UInt32(0), '', '', False, '',
    '', dbus.Array([], signature='(sv)'))
descriptor = pipe.take()
print('session', path, flush=True)
for line in sys.stdin:
    command = line.strip()
    if command == 'lock':
        manager.LockSession(session)
    elif command == 'unlock':
        manager.UnlockSession(session)
    elif command == 'suspend':
        manager.Suspend(False)
    print('done', command, flush=True)
