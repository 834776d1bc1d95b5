#!/usr/bin/python3
"""logind, the desktop portal and two screen savers on one private bus, driven by lines on standard input.

usage: desktop-mock.py ADDRESS STATE-DIRECTORY

Every call of interest and every command that was carried out is a line on standard output. When the inhibitor is let go, the line
says which bytes the state directory holds at that moment.
"""

import hashlib
import os
import sys

import dbus
import dbus.bus
import dbus.lowlevel
import dbus.mainloop.glib
import dbus.service
from dbusmock import mockobject
from dbusmock.mockobject import DBusMockObject
from gi.repository import GLib

ADDRESS, STATE = sys.argv[1:3]
LOGIND = 'org.freedesktop.login1'
MANAGER = 'org.freedesktop.login1.Manager'
SESSION = '/org/freedesktop/login1/session/c1'
PORTAL = 'org.freedesktop.portal.Desktop'
PORTAL_PATH = '/org/freedesktop/portal/desktop'


def say(*words):
    print(*words, flush=True)


def digest():
    """The bytes of every file below the state directory."""
    whole = hashlib.sha256()
    for folder, folders, files in os.walk(STATE):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(folder, name)
            whole.update(path.encode() + b'\0')
            try:
                with open(path, 'rb') as file:
                    whole.update(file.read())
            except FileNotFoundError:
                pass  # The program goes on writing.
    return whole.hexdigest()


class Inhibitors(list):
    """The mock's own list, which tells of every change."""

    def append(self, entry):
        super().append(entry)
        say('inhibited', entry[0], entry[3])

    def remove(self, entry):
        super().remove(entry)
        say('released', digest())


class Portal(dbus.service.Object):
    """What dbusmock has no template for."""

    # dbusmock looks for these in every object.
    methods = {}
    interface = 'org.freedesktop.portal.Inhibit'
    handle = '/'
    client = None

    @dbus.service.method('org.freedesktop.portal.Inhibit', 'sa{sv}', 'o', sender_keyword='sender')
    def CreateMonitor(self, window, options, sender):
        self.client = sender
        name = sender[1:].replace('.', '_')
        request = f'{PORTAL_PATH}/request/{name}/{options["handle_token"]}'
        self.handle = f'{PORTAL_PATH}/session/{name}/{options["session_handle_token"]}'
        results = dbus.Dictionary({'session_handle': self.handle}, signature='sv')
        # Before the reply, as a real portal may do.
        emit(request, 'org.freedesktop.portal.Request', 'Response', 'ua{sv}', dbus.UInt32(0), results)
        say('monitored')
        return dbus.ObjectPath(request)

    @dbus.service.method('org.freedesktop.portal.Inhibit', 'o', '')
    def QueryEndResponse(self, handle):
        say('answered', digest() if handle == self.handle else 'another handle')


def emit(path, interface, member, signature='', *values, connection=None, to=None):
    message = dbus.lowlevel.SignalMessage(path, interface, member)
    if to:
        message.set_destination(to)
    message.append(*values, signature=signature)
    (connection or bus).send_message(message)
    (connection or bus).flush()


def carry_out(words):
    """Carries out one command."""
    command, rest = words[0], words[1:]
    session = 'org.freedesktop.login1.Session'
    properties = 'org.freedesktop.DBus.Properties'
    inhibit = 'org.freedesktop.portal.Inhibit'
    if command in ('Lock', 'Unlock'):
        emit(SESSION, session, command)
    elif command == 'hint':
        mockobject.objects[SESSION].UpdateProperties(session, {'LockedHint': dbus.Boolean(rest[0] == '1')})
    elif command in ('PrepareForSleep', 'PrepareForShutdown'):
        emit('/org/freedesktop/login1', MANAGER, command, 'b', rest[0] == '1')
    elif command == 'state':
        state = dbus.Dictionary(
            {'screensaver-active': rest[1] == '1', 'session-state': dbus.UInt32(int(rest[0]))}, signature='sv')
        emit(PORTAL_PATH, inhibit, 'StateChanged', 'oa{sv}', portal.handle, state)
    elif command == 'blank':
        emit('/org/freedesktop/ScreenSaver', 'org.freedesktop.ScreenSaver', 'ActiveChanged', 'b', rest[0] == '1')
    elif command == 'forge':
        # Somebody else on the bus, with the right paths and names and no right to them.
        # Sent to everybody, and to the program alone, which the bus delivers whatever was subscribed to.
        stranger = dbus.bus.BusConnection(ADDRESS)
        state = dbus.Dictionary({'session-state': dbus.UInt32(3)}, signature='sv')
        for to in (None, portal.client):
            emit(SESSION, session, 'Lock', connection=stranger, to=to)
            emit('/org/freedesktop/login1', MANAGER, 'PrepareForSleep', 'b', True, connection=stranger, to=to)
            emit('/org/freedesktop/login1', MANAGER, 'PrepareForShutdown', 'b', True, connection=stranger, to=to)
            emit(PORTAL_PATH, inhibit, 'StateChanged', 'oa{sv}', portal.handle, state, connection=stranger, to=to)
    elif command == 'garbage':
        emit('/org/freedesktop/login1', MANAGER, 'PrepareForSleep', 's', 'yes')
        emit('/org/freedesktop/login1', MANAGER, 'PrepareForShutdown')
        emit(SESSION, properties, 'PropertiesChanged', 'u', dbus.UInt32(7))
        emit(SESSION, properties, 'PropertiesChanged', 'sau', session, dbus.Array([1, 2], signature='u'))
        emit(PORTAL_PATH, inhibit, 'StateChanged', 'as', dbus.Array(['x'], signature='s'))
        odd = dbus.Dictionary({'session-state': 'two', 'screensaver-active': dbus.Struct((1, 'x'))}, signature='sv')
        emit(PORTAL_PATH, inhibit, 'StateChanged', 'oa{sv}', portal.handle, odd)
        emit('/org/freedesktop/ScreenSaver', 'org.freedesktop.ScreenSaver', 'ActiveChanged', 't', dbus.UInt64(1))
        for _ in range(1000):
            emit('/org/freedesktop/login1', MANAGER, 'PrepareForSleep', 's', 'again')
    elif command == 'digest':
        return say('digest', digest())
    say('done', command)


def read(source, condition):
    text = os.read(0, 65536).decode()
    if not text:
        os._exit(0)
    for line in text.splitlines():
        carry_out(line.split())
    return True


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.bus.BusConnection(ADDRESS)
bus.call_on_disconnection(lambda connection: os._exit(0))

names = [dbus.service.BusName(LOGIND, bus)]
manager = DBusMockObject(names[0], '/org/freedesktop/login1', MANAGER, {}, '/dev/null')
mockobject.inhibitors = Inhibitors()
manager.AddTemplate('logind', {})
manager.AddSession('c1', 'seat0', dbus.UInt32(os.getuid()), 'somebody', True)
manager.AddMethod(MANAGER, 'GetSessionByPID', 'u', 'o', f'ret = "{SESSION}"')
manager.AddProperty(MANAGER, 'InhibitDelayMaxUSec', dbus.UInt64(5_000_000))

portal = Portal(bus, PORTAL_PATH)
names.append(dbus.service.BusName(PORTAL, bus))
names.append(dbus.service.BusName('org.freedesktop.ScreenSaver', bus))

GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, read)
say('ready')
GLib.MainLoop().run()
