#!/usr/bin/python3
"""Uses gtk-notes as a person does, kills it twenty times, and compares what comes back.

usage: survives-kills.py PROGRAM [FOLDER FOR PICTURES]

Needs Xvfb, openbox, xdotool, ImageMagick, AT-SPI with its GObject introspection, dbus-daemon and python3-dbusmock. What the program
shows is read through accessibility, as a screen reader does, and from pictures of its windows.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
HERE = os.path.dirname(os.path.abspath(__file__))
SUPPORT = os.path.join(HERE, '../../../../Tests/DesktopSessionTests/Support')
# A session bus of its own. The sockets of accessibility lie in the runtime directory: two runs would take each other's.
if 'GTK_NOTES_WORK' not in os.environ:
    os.environ['GTK_NOTES_WORK'] = os.environ['XDG_RUNTIME_DIR'] = tempfile.mkdtemp(prefix='gtk-notes-')
    os.execvp('dbus-run-session', ['dbus-run-session', '--', sys.executable, *sys.argv])
WORK = os.environ['GTK_NOTES_WORK']
PICTURES = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else WORK
KILLS = int(os.environ.get("KILLS", 20))
SCRATCH_AT = min(4, KILLS - 1)
PATIENCE = 300
FOLDER, STATE = WORK + '/notes', WORK + '/state'
helpers = []


def start_helper(*command, **options):
    helper = subprocess.Popen(command, stderr=subprocess.DEVNULL, **options)
    helpers.append(helper)
    return helper


def wait(what, condition):
    """Waits until a condition gives something true, and returns that."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        result = condition()
        if result:
            return result
        time.sleep(0.05)
    subprocess.run(['import', '-window', 'root', os.path.join(PICTURES, 'failure.png')], check=False)
    raise SystemExit(f'waited in vain for {what}')


def expect(condition, what):
    if not condition:
        subprocess.run(['import', '-window', 'root', os.path.join(PICTURES, 'failure.png')], check=False)
        raise SystemExit(f'FAILED: {what}')


# A display, a window manager, and a private system bus with a mock of logind.
read_end, write_end = os.pipe()
start_helper('Xvfb', '-displayfd', str(write_end), '-screen', '0', '1280x900x24', pass_fds=[write_end])
os.environ['DISPLAY'] = ':' + os.read(read_end, 16).decode().strip()
os.environ.update(GDK_BACKEND='x11', GSK_RENDERER='cairo', NO_AT_BRIDGE='0', SWIFT_BACKTRACE='enable=no')
os.environ.update(HOME=WORK, XDG_CONFIG_HOME=WORK + '/config')
os.makedirs(WORK + '/config/gtk-4.0')
with open(WORK + '/config/gtk-4.0/settings.ini', 'w') as settings:
    settings.write('[Settings]\ngtk-cursor-blink=0\ngtk-enable-animations=0\ngtk-overlay-scrolling=0\n')
start_helper('openbox')
bus = f'unix:path={WORK}/bus'
start_helper('dbus-daemon', f'--config-file={SUPPORT}/private-bus.conf', f'--address={bus}', '--nofork', '--nopidfile')
wait('the bus', lambda: os.path.exists(WORK + '/bus'))
os.makedirs(WORK + '/state', mode=0o700)
mock = start_helper(
    '/usr/bin/python3', SUPPORT + '/desktop-mock.py', bus, WORK + '/state', stdin=subprocess.PIPE, stdout=subprocess.PIPE)
expect(mock.stdout.readline() == b'ready\n', 'the mock of logind starts')
os.environ['DBUS_SYSTEM_BUS_ADDRESS'] = bus

import gi  # noqa: E402  (after the environment is set)

gi.require_version('Atspi', '2.0')
from gi.repository import Atspi, GLib  # noqa: E402

Atspi.init()


# What accessibility tells.

def children(node):
    """The accessible children of an object, as they are now."""
    if node is None:
        return []
    node.clear_cache()
    return [node.get_child_at_index(index) for index in range(node.get_child_count())]


def windows():
    """The program's windows; empty while it changes or is gone."""
    try:
        return [
            window for application in children(Atspi.get_desktop(0))
            if application is not None and application.get_name() == 'gtk-notes'
            and application.get_process_id() == program.pid
            for window in children(application) if window is not None and window.get_role_name() == 'frame']
    except GLib.Error:
        return []


def nodes(top, enters_lists=True):
    """The objects of a window, parents first; the many rows of a list only where they are of interest."""
    found = [top]
    if enters_lists or top.get_role_name() != 'list':
        for child in children(top):
            if child is not None:
                found += nodes(child, enters_lists)
    return found


def text_view(title):
    """The text and the caret of a window's editor."""
    try:
        for window in windows():
            if title in window.get_name():
                for node in nodes(window, enters_lists=False):
                    if node.get_role_name() == 'text':
                        return Atspi.Text.get_text(node, 0, -1), Atspi.Text.get_caret_offset(node)
    except GLib.Error:
        pass
    return None


def focused_role():
    """What kind of object in the main window has the keyboard."""
    try:
        for window in windows():
            if 'Notes' in window.get_name():
                for node in nodes(window):
                    if node.get_state_set().contains(Atspi.StateType.FOCUSED):
                        return node.get_role_name()
    except GLib.Error:
        pass
    return None


def everything_said():
    """Every name and text that a screen reader could read out; nothing while the windows change."""
    said = []
    try:
        for window in windows():
            for node in nodes(window):
                said.append(node.get_name() or '')
                if node.get_role_name() == 'text':
                    said.append(Atspi.Text.get_text(node, 0, -1))
    except GLib.Error:
        return ''
    return '\n'.join(said)


# What a person does.

def xdotool(*words):
    return subprocess.run(['xdotool', *map(str, words)], check=True, capture_output=True, text=True).stdout


def window(title):
    ids = subprocess.run(
        ['xdotool', 'search', '--onlyvisible', '--name', title], capture_output=True, text=True).stdout.split()
    return ids[0] if ids else None


def geometry(title):
    lines = dict(line.split('=') for line in xdotool('getwindowgeometry', '--shell', window(title)).split())
    return int(lines['WIDTH']), int(lines['HEIGHT'])


def click(title, x, y, times=1):
    xdotool('windowactivate', '--sync', window(title))
    xdotool('mousemove', '--window', window(title), x, y, 'click', '--repeat', times, '--delay', 60, 1)
    xdotool('mousemove', 1270, 890)


def type_text(text):
    xdotool('type', '--delay', 12, text)


def enter_passcode(text):
    type_text(text)
    xdotool('key', 'Return')


def picture(name, title):
    path = os.path.join(PICTURES, name + '.png')
    xdotool('mousemove', 1270, 890)
    time.sleep(0.3)
    subprocess.run(['import', '-window', window(title), path], check=True)
    return path


def differing_pixels(first, second):
    result = subprocess.run(['compare', '-metric', 'AE', first, second, 'null:'], capture_output=True, text=True)
    return float(result.stderr.split()[0])


def saves():
    with open(WORK + '/log') as log:
        return sum(line.startswith('preserved generation') for line in log)


def until_preserved(action):
    """Does something, and waits until it is preserved and nothing more is."""
    before = saves()
    action()
    wait('a save', lambda: saves() > before)
    count = saves()
    quiet = time.monotonic()
    while time.monotonic() - quiet < 0.8:
        time.sleep(0.05)
        if saves() != count:
            count, quiet = saves(), time.monotonic()


def start():
    global program
    program = subprocess.Popen(
        [PROGRAM, FOLDER, '--state', STATE, '--log', WORK + '/log'], stderr=subprocess.DEVNULL)
    wait('a window', lambda: windows() and window('Notes'))


def kill():
    program.send_signal(signal.SIGKILL)
    program.wait()
    wait('the end of the windows', lambda: not window('Notes'))


def restart():
    kill()
    start()


os.makedirs(WORK + '/notes')
for name in ['Alpha', 'Beta', 'Gamma'] + [f'Note {number:02}' for number in range(1, 31)]:
    with open(f'{WORK}/notes/{name}.txt', 'w') as file:
        file.write(''.join(f'{name} line {line}\n' for line in range(1, 121)))

try:
    start()
    # Beta is the second row of the list; its text gets a draft.
    until_preserved(lambda: click('Notes', 60, 80))
    wait('the note', lambda: (text_view('Beta') or ('',))[0].startswith('Beta line 1\n'))
    until_preserved(lambda: (click('Notes', 420, 200), xdotool('key', 'ctrl+Home')))
    random.seed(26)
    for number in range(KILLS):
        until_preserved(lambda: type_text(f'word{number} '))
        if number == SCRATCH_AT:
            until_preserved(lambda: click('Notes', 125, 27))
            wait('the second window', lambda: window('Scratch'))
            until_preserved(lambda: type_text('on the second window'))
            xdotool('windowactivate', '--sync', window('Notes'))
        if number == 9:
            until_preserved(lambda: click('Notes', 320, 27, times=2))
            wait('the maximized window', lambda: geometry('Notes')[0] > 1000)
        if number == 13:
            until_preserved(lambda: click('Notes', 700, 27, times=2))
            wait('the normal window', lambda: geometry('Notes')[0] < 1000)
        text, caret = wait('the text', lambda: text_view('Notes'))
        size = geometry('Notes')
        expect(f'word{number} ' in text, f'word {number} was typed')
        extra = ''
        if number % 2:
            # In the middle of typing: what is lost is at most what was typed since the last save.
            extra = 'z' * random.randint(1, 8)
            type_text(extra)
            time.sleep(random.random() * 0.4)
        restart()
        again, place = wait('the text', lambda: (text_view('Notes') or ('',))[0] and text_view('Notes'))
        allowed = [text[:caret] + extra[:count] + text[caret:] for count in range(len(extra) + 1)]
        expect(again in allowed, f'kill {number}: the draft is {again[:80]!r}, not {text[:80]!r}')
        expect(place == caret + len(again) - len(text), f'kill {number}: the caret is at {place}, not {caret}')
        # Accessibility tells of a new title some time after the text.
        wait(f'the note after kill {number}', lambda: any('Beta' in window.get_name() for window in windows()))
        wait(f'the size {size} after kill {number}', lambda: geometry('Notes') == size)
        if number >= SCRATCH_AT:
            wait('the second window', lambda: window('Scratch'))
            wait('its text', lambda: (text_view('Scratch') or ('',))[0] == 'on the second window')
            xdotool('windowactivate', '--sync', window('Notes'))
        print(f'kill {number + 1}: the draft of {len(again)} characters is back', flush=True)
    with open(WORK + '/notes/Beta.txt') as file:
        expect('word' not in file.read(), 'the draft is in no file of the user')

    # Scrolled somewhere else: the picture of the window is the same before and after.
    def scroll():
        xdotool('mousemove', '--window', window('Notes'), 420, 200, 'click', '--repeat', 9, '--delay', 60, 5)
        xdotool('mousemove', '--window', window('Notes'), 60, 200, 'click', '--repeat', 3, '--delay', 60, 5)

    until_preserved(scroll)
    before = picture('before-the-kill', 'Notes')
    restart()
    wait('the text', lambda: (text_view('Notes') or ('',))[0])
    wait('the second window', lambda: window('Scratch'))
    xdotool('windowactivate', '--sync', window('Notes'))
    time.sleep(1)
    after = picture('after-the-kill', 'Notes')
    expect(differing_pixels(before, after) < 400, f'{differing_pixels(before, after)} pixels differ after a kill')
    print('the pictures before and after a kill are the same', flush=True)

    # The lock page: a passcode is chosen, then asked for.
    text, caret = wait('the text', lambda: text_view('Notes'))
    click('Notes', 200, 27)
    wait('the question', lambda: 'Choose a passcode' in everything_said())
    enter_passcode('1234')
    wait('the notes', lambda: (text_view('Notes') or ('',))[0] == text)
    click('Notes', 200, 27)
    secrets = ['word0', 'line 1', 'second window', 'Gamma', 'Beta']

    def shows_only_the_lock():
        said = everything_said()
        return 'Locked' in said and not any(secret in said for secret in secrets)

    wait('the lock page', shows_only_the_lock)
    picture('locked', 'Notes')
    restart()
    wait('the lock page', shows_only_the_lock)
    expect(not window('Scratch'), 'the second window is not shown while locked')
    enter_passcode('wrong')
    wait('the refusal', lambda: 'wrong' in everything_said())
    said = wait('the refusal', everything_said)
    expect(not any(secret in said for secret in secrets), 'nothing is shown after a wrong passcode')
    time.sleep(1)
    enter_passcode('1234')
    wait('the text', lambda: (text_view('Notes') or ('',))[0] == text)
    wait('the second window', lambda: window('Scratch'))
    print('locked, killed, started: nothing shown, and everything back after the passcode', flush=True)

    # The session locks the screen.
    mock.stdin.write(b'Lock\n')
    mock.stdin.flush()
    wait('the lock page', shows_only_the_lock)
    mock.stdin.write(b'Unlock\n')
    mock.stdin.flush()
    time.sleep(1)
    expect(shows_only_the_lock(), 'an unlocked screen unlocks no device')
    xdotool('windowactivate', '--sync', window('Notes'))
    enter_passcode('1234')
    wait('the text', lambda: (text_view('Notes') or ('',))[0] == text)
    print('the program locks with the screen', flush=True)

    # Closed as windows are.
    xdotool('windowactivate', '--sync', window('Scratch'))
    xdotool('key', 'alt+F4')
    wait('one window', lambda: not window('Scratch'))
    xdotool('windowactivate', '--sync', window('Notes'))
    xdotool('key', 'alt+F4')
    expect(program.wait(PATIENCE) == 0, 'the program ends well')

    # An empty folder: there is something to type in at once.
    FOLDER, STATE = WORK + '/empty', WORK + '/empty-state'
    os.makedirs(FOLDER)
    os.makedirs(STATE, mode=0o700)
    start()
    wait('a note to type in', lambda: text_view('Note 1') == ('', 0) and focused_role() == 'text')
    until_preserved(lambda: (type_text('bread and milk'), xdotool('key', 'Left', 'Left', 'Left', 'Left')))
    until_preserved(lambda: click('Notes', 264, 27))
    wait('the second note', lambda: text_view('Note 2') == ('', 0))
    until_preserved(lambda: type_text('second'))
    picture('empty-folder', 'Notes')
    restart()
    wait('the second note', lambda: text_view('Note 2') == ('second', 6) and focused_role() == 'text')
    # The focus in the list comes back, too.
    until_preserved(lambda: click('Notes', 60, 60))
    wait('the first note', lambda: text_view('Note 1') == ('bread and milk', 10))
    wait('the focus', lambda: focused_role() == 'list item')
    restart()
    wait('the first note', lambda: text_view('Note 1') == ('bread and milk', 10))
    wait('the focus', lambda: focused_role() == 'list item')
    picture('focus-in-the-list', 'Notes')
    expect(not os.listdir(FOLDER), 'what was not saved is in no file')
    until_preserved(lambda: click('Notes', 45, 27))
    wait('the file', lambda: os.path.exists(FOLDER + '/Note 1.txt'))
    with open(FOLDER + '/Note 1.txt') as file:
        expect(file.read() == 'bread and milk', 'the note was saved')
    print('an empty folder: a note, a second one, the caret and the focus came back', flush=True)
    print(f'{KILLS} kills survived', flush=True)
finally:
    if program.poll() is None:
        program.kill()
    for helper in reversed(helpers):
        helper.kill()
    shutil.rmtree(WORK, ignore_errors=True)
