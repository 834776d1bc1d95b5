#!/usr/bin/python3
"""Stands between a program and a message bus, and does one thing wrong at a message of its choice.

usage: bus-proxy.py LISTEN-PATH BUS-PATH

Lines on standard input: `fault KIND NUMBER PID` begins to count messages at one, and at the message of that number does what KIND says;
`resume` sends what a hang holds back. Each message is a line on standard output, and so is the fault.

| Kind | The message |
|---|---|
| kill | is not delivered; the process PID, which is the bus, gets SIGKILL |
| hang | is held back with everything after it, in both directions |
| drop | is not delivered |
| garble | is delivered with other contents than its interface promises |
| refuse | is delivered as the error LimitsExceeded, where it answers a call |
| none | is delivered |
"""

import os
import selectors
import signal
import socket
import struct
import sys

LISTEN, BUS = sys.argv[1:3]
METHOD_CALL, REPLY, ERROR, SIGNAL = 1, 2, 3, 4
PATH, INTERFACE, MEMBER, ERROR_NAME, REPLY_SERIAL, DESTINATION, SENDER, SIGNATURE, DESCRIPTORS = range(1, 10)


def say(*words):
    print(*words, flush=True)


class Message:
    """A whole message in little-endian bytes, with the descriptors that came with it."""

    def __init__(self, data, descriptors):
        self.data, self.descriptors = data, descriptors
        self.type = data[1]
        self.body = data[align(16 + struct.unpack_from('<I', data, 12)[0], 8):]
        self.fields = dict(self.read_fields())

    def read_fields(self):
        at, end = 16, 16 + struct.unpack_from('<I', self.data, 12)[0]
        while at < end:
            at = align(at, 8)
            code, signature = self.data[at], chr(self.data[at + 2])
            at += 4
            if signature == 'g':
                length, at = self.data[at], at + 1
            else:
                at = align(at, 4)
                length, at = struct.unpack_from('<I', self.data, at)[0], at + 4
            if signature == 'u':
                yield code, (signature, length)
                continue
            yield code, (signature, self.data[at:at + length])
            at += length + 1

    def changed(self, kind, fields, body):
        """The same message with other fields and another body."""
        coded = b''
        for code, (signature, value) in sorted(fields.items()):
            coded += b'\0' * (-len(coded) % 8) + bytes([code, 1, ord(signature), 0])
            if signature == 'g':
                coded += bytes([len(value)]) + value + b'\0'
            elif signature == 'u':
                coded += struct.pack('<I', value)
            else:
                coded += struct.pack('<I', len(value)) + value + b'\0'
        head = struct.pack('<cBBBIII', b'l', kind, self.data[2], 1, len(body), *struct.unpack_from('<I', self.data, 8), len(coded))
        return Message(head + coded + b'\0' * (-len(coded) % 8) + body, [])

    def garbled(self):
        fields = {code: value for code, value in self.fields.items() if code != DESCRIPTORS}
        fields[SIGNATURE] = ('g', b'(uay)')
        return self.changed(self.type, fields, struct.pack('<II', 7, 3) + b'\xff\xfe\xfd')

    def refused(self):
        if self.type != REPLY:
            return self
        fields = {code: self.fields[code] for code in (REPLY_SERIAL, DESTINATION, SENDER) if code in self.fields}
        fields[ERROR_NAME] = ('s', b'org.freedesktop.DBus.Error.LimitsExceeded')
        return self.changed(ERROR, fields, b'')

    def close(self):
        for descriptor in self.descriptors:
            os.close(descriptor)

    def __str__(self):
        kind = {METHOD_CALL: 'call', REPLY: 'reply', ERROR: 'error', SIGNAL: 'signal'}[self.type]
        member = self.fields.get(MEMBER, self.fields.get(ERROR_NAME, ('s', b'')))[1].decode()
        return f'{kind} {member}'.strip()


def align(number, to):
    return (number + to - 1) // to * to


class Pipe:
    """One direction of a connection."""

    def __init__(self, source, target, name, end_of_greeting):
        self.source, self.target, self.name = source, target, name
        self.end_of_greeting = end_of_greeting
        self.data, self.descriptors = b'', []

    def receive(self):
        """The messages that have become whole; None at the end."""
        data, descriptors, _, _ = socket.recv_fds(self.source, 65536, 16)
        if not data:
            return None
        self.data += data
        self.descriptors += descriptors
        return list(self.cut())

    def cut(self):
        if self.end_of_greeting:
            end = self.data.find(self.end_of_greeting)
            if end < 0:
                return
            end += len(self.end_of_greeting)
            greeting, self.data, self.end_of_greeting = self.data[:end], self.data[end:], None
            yield greeting
        while len(self.data) >= 16:
            size = align(16 + struct.unpack_from('<I', self.data, 12)[0], 8) + struct.unpack_from('<I', self.data, 4)[0]
            if len(self.data) < size:
                return
            message = Message(self.data[:size], [])
            self.data = self.data[size:]
            count = message.fields.get(DESCRIPTORS, ('u', 0))[1]
            message.descriptors, self.descriptors = self.descriptors[:count], self.descriptors[count:]
            yield message

    def send(self, message):
        data = message if isinstance(message, bytes) else message.data
        descriptors = [] if isinstance(message, bytes) else message.descriptors
        try:
            socket.send_fds(self.target, [data], descriptors)
        except OSError:
            pass
        if descriptors:
            message.close()


class Proxy:
    def __init__(self):
        self.selector = selectors.DefaultSelector()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(LISTEN)
        self.listener.listen(16)
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept)
        self.selector.register(sys.stdin, selectors.EVENT_READ, self.command)
        self.connections = []
        self.kind, self.number, self.process, self.count = 'none', 0, 0, 0
        self.held, self.hanging = [], None

    def accept(self):
        client, _ = self.listener.accept()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(BUS)
        except OSError:
            client.close()
            return
        pair = (client, server)
        self.connections.append(pair)
        # What each side says before its first message.
        to_bus = Pipe(client, server, 'program', b'BEGIN\r\n')
        to_program = Pipe(server, client, 'bus', b'AGREE_UNIX_FD\r\n')
        for pipe in (to_bus, to_program):
            self.selector.register(pipe.source, selectors.EVENT_READ, lambda pipe=pipe, pair=pair: self.forward(pipe, pair))

    def close(self, pair):
        if pair not in self.connections:
            return
        self.connections.remove(pair)
        for end in pair:
            self.selector.unregister(end)
            end.close()

    def forward(self, pipe, pair):
        if pair not in self.connections:
            return
        try:
            messages = pipe.receive()
        except OSError:
            messages = None
        if messages is None:
            return self.close(pair)
        for message in messages:
            if pair in self.connections:
                self.deliver(pipe, pair, message)

    def deliver(self, pipe, pair, message):
        self.count += 1
        text = 'greeting' if isinstance(message, bytes) else str(message)
        say('message', self.count, pipe.name, text)
        if self.hanging == pair:
            return self.held.append((pipe, message))
        if self.count != self.number or self.kind == 'none':
            return pipe.send(message)
        kind = self.kind
        if kind == 'kill':
            os.kill(self.process, signal.SIGKILL)
            for connection in list(self.connections):
                self.close(connection)
        elif kind == 'hang':
            self.hanging = pair
            self.held.append((pipe, message))
        elif kind == 'drop' and not isinstance(message, bytes):
            message.close()
        elif kind in ('garble', 'refuse'):
            if isinstance(message, bytes):
                pipe.send(message.replace(b'OK', b'NO') if kind == 'garble' else message)
            elif pipe.name == 'bus':
                changed = message.garbled() if kind == 'garble' else message.refused()
                pipe.send(changed)
                if changed is not message:
                    message.close()
            else:
                pipe.send(message)
        say('fault', kind, self.count, pipe.name, text)

    def command(self):
        text = os.read(0, 65536).decode()
        if not text:
            os._exit(0)
        for line in text.splitlines():
            words = line.split()
            if words[0] == 'fault':
                self.kind, self.number, self.process, self.count = words[1], int(words[2]), int(words[3]), 0
                self.held, self.hanging = [], None
            elif words[0] == 'resume':
                held, self.held, self.hanging = self.held, [], None
                for pipe, message in held:
                    pipe.send(message)
            say('done', words[0])

    def run(self):
        say('ready')
        while True:
            for key, _ in self.selector.select():
                key.data()


Proxy().run()
