// GTK 4, and the few things of it that Swift can't import: macros and functions with variable arguments.
#ifndef CGTK_H
#define CGTK_H

#include <glib-unix.h>
#include <gtk/gtk.h>

// How libdispatch, which runs Swift's main actor, joins the main loop of somebody else; CoreFoundation uses the same.
extern int _dispatch_get_main_queue_handle_4CF(void);
extern void _dispatch_main_queue_callback_4CF(void *message);

// Connects a signal whose handler gets its data first, so that one handler serves signals with any arguments.
static inline void cgtk_connect(
    void *object, const char *signal, gboolean (*handler)(void *data), void *data, GClosureNotify destroy) {
  g_signal_connect_data(object, signal, G_CALLBACK(handler), data, destroy, G_CONNECT_SWAPPED);
}

#endif
