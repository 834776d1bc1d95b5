// What a disk holds of a directory, and how the directory would look after a power cut; see power-cut.c.

#ifndef POWER_CUT_H
#define POWER_CUT_H

// Begins: everything below POWER_CUT_ROOT is taken to be on the disk. Does nothing where POWER_CUT is not set.
void power_begin(void);

// A file was opened; is_new tells whether it was made just now (O_CREAT, O_TMPFILE), is_writable whether it may be written.
void power_did_open(int descriptor, int is_new, int is_writable);

// A name is about to be taken away, or given to another file.
void power_will_replace(int directory, const char *name);

// A descriptor was synced: what it names is on the disk.
void power_did_sync(int descriptor);

// Puts the directory into a state in which a power cut may leave it. The caller ends the process and lets nothing else write.
void power_cut(void);

#endif
